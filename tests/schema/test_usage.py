"""Token counts add up."""

from flowkit.schema.model import Usage


def test_counts_add_field_by_field():
    total = Usage(input_tokens=1, output_tokens=2, input_images=1) + Usage(input_tokens=10, thoughts_tokens=5)
    assert total == Usage(input_tokens=11, output_tokens=2, total_tokens=13, input_images=1, thoughts_tokens=5)


def test_unknown_plus_unknown_stays_unknown():
    assert Usage() + Usage() == Usage()
    assert (Usage(output_tokens=5) + Usage()).input_tokens is None


def test_a_missing_total_is_input_plus_output_and_a_given_one_is_kept():
    assert (Usage(input_tokens=1, output_tokens=2) + Usage(total_tokens=10)).total_tokens == 13
    assert (Usage(input_tokens=1, output_tokens=2, total_tokens=9) + Usage()).total_tokens == 9


def test_custom_counts_add_by_name():
    assert (Usage(custom={"a": 1}) + Usage(custom={"a": 2, "b": 3})).custom == {"a": 3, "b": 3}


def test_a_sum_skips_the_silent_and_is_none_when_all_are():
    assert Usage.sum([None, Usage(input_tokens=1), None]) == Usage(input_tokens=1, total_tokens=1)
    assert Usage.sum([None, None]) is None
    assert Usage.sum([]) is None
