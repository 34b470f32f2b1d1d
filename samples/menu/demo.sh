# What `make demo` shows: index a menu, then ask it.
set -eu

say() {
  printf '\n$ flowkit flow:run %s "%s"\n' "$1" "$2"
  flowkit flow:run "$1" "$2"
}

say indexMenu dinner.pdf
say menuQA "What does the lentil shepherd's pie cost?"
say menuQA "When is the restaurant closed?"
say menuQA "Can I bring my dog?"
say menuQA "How tall is the Eiffel Tower?"
