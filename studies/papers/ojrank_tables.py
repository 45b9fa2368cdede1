"""The figures of the OJRank paper: Tables 3 to 6."""

#: The paper's methods, in the order of its columns.
METHODS = ("OJRank", "OJR-MO", "OJR-ALL", "AAD", "OMD-Lin", "OMD-LLH", "Offline")

BENCHMARK = (
    "abalone", "ann_thyroid", "cardiotocography", "ecoli", "glass", "mammography", "shuttle", "wbc", "yeast", "lympho",
    "musk", "thyroid", "wine", "vertebral",
)  # fmt: skip
#: The paper's eighth clustered set, sensor, cannot be had.
CLUSTERED = (
    "clus_vowels", "clus_optdigits", "clus_letters", "clus_segment", "clus_statlog", "clus_vehicle", "clus_svmguide",
)  # fmt: skip

#: Tables 3 (benchmark) and 4 (clustered): precision at the number of wanted rows.
PRECISION = {
    "abalone": (0.52, 0.52, 0.52, 0.56, 0.52, 0.54, 0.51),
    "ann_thyroid": (0.75, 0.73, 0.52, 0.39, 0.78, 0.76, 0.19),
    "cardiotocography": (0.64, 0.65, 0.60, 0.55, 0.65, 0.69, 0.38),
    "ecoli": (0.72, 0.57, 0.70, 0.44, 0.56, 0.51, 0.42),
    "glass": (0.11, 0.11, 0.17, 0.11, 0.11, 0.11, 0.11),
    "mammography": (0.58, 0.56, 0.56, 0.41, 0.60, 0.62, 0.25),
    "shuttle": (0.96, 0.94, 0.97, 0.98, 0.97, 0.98, 0.89),
    "wbc": (0.71, 0.66, 0.67, 0.53, 0.60, 0.59, 0.50),
    "yeast": (0.27, 0.25, 0.18, 0.34, 0.35, 0.36, 0.34),
    "lympho": (0.92, 0.93, 0.60, 0.93, 0.93, 0.93, 0.93),
    "musk": (1.00, 0.99, 0.99, 0.99, 1.00, 1.00, 0.97),
    "thyroid": (0.81, 0.77, 0.82, 0.69, 0.82, 0.86, 0.54),
    "wine": (0.42, 0.27, 0.28, 0.09, 0.09, 0.09, 0.09),
    "vertebral": (0.33, 0.31, 0.05, 0.05, 0.05, 0.05, 0.04),
    "clus_vowels": (0.78, 0.58, 0.09, 0.45, 0.77, 0.80, 0.17),
    "clus_optdigits": (0.08, 0.07, 0.01, 0.04, 0.06, 0.05, 0.03),
    "clus_letters": (0.62, 0.51, 0.21, 0.16, 0.53, 0.47, 0.05),
    "clus_segment": (0.48, 0.40, 0.00, 0.02, 0.25, 0.04, 0.00),
    "clus_statlog": (0.93, 0.91, 0.92, 0.90, 0.93, 0.92, 0.87),
    "clus_vehicle": (0.31, 0.29, 0.12, 0.11, 0.13, 0.11, 0.09),
    "clus_svmguide": (0.12, 0.11, 0.10, 0.10, 0.10, 0.10, 0.10),
}

#: Tables 5 (benchmark) and 6 (clustered): mean expert effort in score space.
EFFORT = {
    "abalone": (0.59, 0.65, 0.60, 0.60, 0.54, 0.56, 0.65),
    "ann_thyroid": (0.49, 0.70, 0.65, 0.92, 0.60, 0.60, 0.92),
    "cardiotocography": (0.69, 0.83, 0.72, 0.89, 0.77, 0.73, 0.90),
    "ecoli": (0.96, 1.10, 0.98, 1.09, 1.07, 1.07, 1.10),
    "glass": (1.12, 1.12, 1.09, 1.12, 1.12, 1.12, 1.12),
    "mammography": (0.57, 0.70, 0.60, 0.82, 0.60, 0.57, 0.83),
    "shuttle": (0.20, 0.65, 0.20, 0.81, 0.35, 0.26, 0.70),
    "wbc": (0.91, 1.00, 0.92, 1.00, 0.99, 0.98, 1.00),
    "yeast": (0.86, 0.91, 0.91, 0.81, 0.77, 0.77, 0.88),
    "lympho": (1.20, 1.20, 1.19, 1.20, 1.20, 1.20, 1.20),
    "musk": (0.20, 0.47, 0.22, 0.48, 0.26, 0.24, 0.48),
    "thyroid": (0.48, 0.66, 0.48, 0.80, 0.59, 0.51, 0.76),
    "wine": (1.06, 1.10, 1.06, 1.11, 1.11, 1.11, 1.10),
    "vertebral": (0.89, 0.95, 1.00, 1.02, 1.02, 1.02, 1.02),
    "clus_vowels": (0.63, 0.85, 0.97, 0.90, 0.69, 0.67, 0.94),
    "clus_optdigits": (1.02, 1.03, 1.03, 0.99, 1.03, 1.03, 1.02),
    "clus_letters": (0.72, 0.89, 0.91, 0.92, 0.84, 0.86, 0.98),
    "clus_segment": (0.71, 0.83, 1.01, 0.80, 0.88, 0.95, 0.95),
    "clus_statlog": (0.52, 0.66, 0.54, 0.69, 0.60, 0.56, 0.69),
    "clus_vehicle": (0.88, 0.95, 0.99, 0.94, 0.97, 0.97, 0.98),
    "clus_svmguide": (0.95, 0.97, 0.95, 0.88, 0.94, 0.92, 0.91),
}

#: Mean ranks as printed below Tables 3 to 6 (those of the clustered sets are over eight), and in the original columns.
MEAN_RANKS = {
    "3": (3.32, 3.96, 4.00, 4.43, 3.21, 2.86, 6.21),
    "4": (1.25, 2.75, 5.31, 5.44, 3.06, 3.69, 6.50),
    "5": (2.07, 5.07, 2.57, 5.61, 3.89, 3.18, 5.61),
    "6": (1.62, 4.62, 5.38, 3.75, 3.88, 3.50, 5.25),
}
MEAN_RANKS_IN_COLUMNS = {
    "5": (2.00, 4.75, 3.07, 5.57, 3.86, 3.11, 5.64),
    "6": (2.25, 4.12, 4.38, 4.00, 4.12, 3.88, 5.25),
}
