! A ring of messages and collective operations, in Fortran.
program traced
  use mpi
  implicit none
  integer :: error, rank, ranks, next, previous, requests(2), half
  integer :: status(MPI_STATUS_SIZE)
  double precision :: values(8)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  next = mod(rank + 1, ranks)
  previous = mod(rank + ranks - 1, ranks)
  values = 1
  if (rank == 0) then
    call MPI_Send(values, 2, MPI_DOUBLE_PRECISION, next, 5, MPI_COMM_WORLD, error)
  else if (rank == 1) then
    call MPI_Recv(values, 8, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  end if
  call MPI_Irecv(values(5), 4, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, requests(1), error)
  call MPI_Isend(values, 3, MPI_DOUBLE_PRECISION, previous, 6, MPI_COMM_WORLD, requests(2), error)
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, error)
  call MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, half, error)
  call MPI_Barrier(half, error)
  call MPI_Comm_free(half, error)
  call MPI_Finalize(error)
end program traced
