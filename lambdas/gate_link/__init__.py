"""The page behind a gate mail's link."""
