"""Takes the steps of go/rebuild, one a line on standard input, in a database that plyvel opens.

    steps.py BITS_PER_KEY FOLDER < STEPS

The first difference ends the program with a message.
"""

import sys

import plyvel


def fields(line):
    step, *operands = line.split()
    return step, [bytes.fromhex(operand[1:]) for operand in operands]


def main():
    bits, folder = int(sys.argv[1]), sys.argv[2]
    database = plyvel.DB(folder, create_if_missing=False, paranoid_checks=True, bloom_filter_bits=bits)
    entries = None
    for line in sys.stdin:
        step, operands = fields(line)
        if step in ("next", "end") and entries is None:
            entries = database.iterator(verify_checksums=True)
        if step == "get":
            if database.get(operands[0], verify_checksums=True) != operands[1]:
                sys.exit(f"get {operands[0].hex()}: another value")
        elif step == "miss":
            if database.get(operands[0], verify_checksums=True) is not None:
                sys.exit(f"get {operands[0].hex()}, which is absent")
        elif step == "next":
            found = next(entries, None)
            if found != (operands[0], operands[1]):
                sys.exit(f"the iterator is not at {operands[0].hex()}, or has another value")
        elif step == "end":
            found = next(entries, None)
            if found is not None:
                sys.exit(f"the iterator goes on with {found[0].hex()}")
            entries = None
        elif step == "put":
            database.put(operands[0], operands[1])
        elif step == "delete":
            database.delete(operands[0])
        elif step == "compact":
            database.compact_range()
        else:
            sys.exit(f"no such step: {step}")
    database.close()


main()
