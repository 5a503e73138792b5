"""The core form is checked after every pass of every program in the tests."""

from srcjax import pipeline

pipeline.VALIDATE = True
