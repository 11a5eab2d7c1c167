# SPDX-FileCopyrightText: The hetsort authors
# SPDX-License-Identifier: Apache-2.0
"""What each rank does in the test of mpi4py. Rank r begins with 1000 (r + 1) numbers."""
import os
import tempfile

import mpi4py
import numpy

import hetsort

mpi4py.rc.initialize = False
from mpi4py import MPI  # pylint: disable=wrong-import-position


def refusal(communicator):
    """Why a sort of the communicator's ranks is refused. Each rank is, without the others."""
    array = numpy.array([2, 1])
    try:
        hetsort.sort(array, comm=communicator)
    except hetsort.RequestError as error:
        assert array.tolist() == [2, 1]
        return str(error)
    raise AssertionError("no error")


assert "MPI is not running" in refusal(MPI.COMM_WORLD)
MPI.Init()
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
mine = numpy.random.default_rng(rank).integers(0, 500, 1000 * (rank + 1)).astype("<i8")
everything = numpy.sort(numpy.concatenate(comm.allgather(mine)))


def fails(array, **options):
    """The error of a sort that fails on all ranks with the same message and leaves the array as it was."""
    before = array.copy()
    try:
        hetsort.sort(array, comm=comm, **options)
    except hetsort.Error as error:
        assert (array == before).all()
        assert len(set(comm.allgather(str(error)))) == 1
        return error
    raise AssertionError("no error")


array = mine.copy()
assert hetsort.sort(array, comm=comm) is array
assert (numpy.concatenate(comm.allgather(array)) == everything).all()

# The ranks' shares the other way round: a new array.
share = 1000 * (size - rank)
result = hetsort.sort(mine, comm=comm, share=share)
assert len(result) == share and (numpy.concatenate(comm.allgather(result)) == everything).all()

array, payload = mine.copy(), mine.copy()
assert hetsort.sort(array, payload=[payload], comm=comm) is array and (payload == array).all()
texts = numpy.array(["x" * 1100 + f"{number:03}" for number in mine[::10]])
assert (texts.dtype.itemsize > 4096) and hetsort.sort(texts, comm=comm) is texts
assert [int(text[-3:]) for text in numpy.concatenate(comm.allgather(texts))] == \
    numpy.sort(numpy.concatenate(comm.allgather(mine[::10]))).tolist()
assert "as long as the array" in str(fails(mine.copy(), payload=[mine[rank == 0:].copy()]))

locked = mine.copy()
locked.flags.writeable = rank != size - 1
error = fails(locked)
assert isinstance(error, ValueError) and "read-only" in str(error)
assert "read-only" in str(error.__cause__ if rank == size - 1 else error)
if size > 1:
    assert "has key " in str(fails(mine.astype("<i4") if rank == 0 else mine))
assert "together, but there are" in str(fails(mine, share=5))
assert hetsort.sort(mine.copy(), comm=comm.Split(rank % 2)) is not None
try:
    hetsort.sort(mine, comm=3)
    raise AssertionError("no error")
except TypeError as error:
    assert "not a communicator of mpi4py" in str(error)

assert "MPI_COMM_NULL" in refusal(MPI.COMM_NULL)
if size > 1:
    half = comm.Split(rank % 2)
    assert "intercommunicator" in refusal(half.Create_intercomm(0, comm, 1 - rank % 2))

# Each rank maps its part of one file.
path = comm.bcast(tempfile.mktemp() if rank == 0 else None)
if rank == 0:
    numpy.arange(1000 * size, dtype="<i8")[::-1].tofile(path)
comm.barrier()
part = numpy.memmap(path, "<i8", "r+", offset=8000 * rank, shape=1000)
hetsort.sort(part, comm=comm)
assert part.tolist() == list(range(1000 * rank, 1000 * (rank + 1)))
if size > 1:
    comm.barrier()  # until all parts are in the file
    assert "another sort works on records of this file" in str(fails(numpy.memmap(path, "<i8", "r+")))
comm.barrier()
if rank == 0:
    os.unlink(path)

MPI.Finalize()
assert "MPI has ended" in refusal(comm)
print("all is well")
