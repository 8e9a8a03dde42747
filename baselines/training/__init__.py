"""What the training scripts share."""
