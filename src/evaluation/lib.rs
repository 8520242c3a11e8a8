//! Evaluation of pictures: pairs of renders and photos, the metrics that the field prints, and tables and pages of them.
