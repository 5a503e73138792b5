"""The core form is checked after every pass of every program that the tests transform."""

from srcjax import pipeline

pipeline.VALIDATE = True
