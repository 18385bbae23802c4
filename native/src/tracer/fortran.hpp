// Arguments of Fortran programs: all are passed by address.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <type_traits>

namespace chiplog::tracer {

static_assert(sizeof(int) == sizeof(MPI_Fint));

// MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE; the module mpi_f08 of MPICH and its kin has objects of its own for them.
[[nodiscard]] inline bool is_ignored(const void* status) {
  static const void* const one = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUS_IGNORE_OBJ");
  static const void* const many = dlsym(RTLD_DEFAULT, "MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
  return status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE || status == nullptr || status == one ||
         status == many;
}

// An argument as the C function has it, of type T.
template <class T>
class FortranArgument {
 public:
  explicit FortranArgument(void* given) : given_(given) {}
  [[nodiscard]] void* passed() { return given_; }
  [[nodiscard]] T in_c() {
    if constexpr (std::is_pointer_v<T>) {
      return static_cast<T>(given_);
    } else {
      return *static_cast<T*>(given_);
    }
  }

 private:
  void* given_;
};

// A status is also kept where the program ignores it.
template <>
class FortranArgument<MPI_Status*> {
 public:
  explicit FortranArgument(void* given) : given_(is_ignored(given) ? own_ : given) {}
  FortranArgument(const FortranArgument&) = delete;
  FortranArgument& operator=(const FortranArgument&) = delete;
  [[nodiscard]] void* passed() { return given_; }
  [[nodiscard]] MPI_Status* in_c() {
    PMPI_Status_f2c(static_cast<MPI_Fint*>(given_), &status_);
    return &status_;
  }

 private:
  static constexpr int most_words = 16;
  MPI_Fint own_[most_words] = {};
  void* given_;
  MPI_Status status_{};
};

// Where handles are addresses in C, they are numbers in Fortran.
#ifdef OPEN_MPI
#define CHIPLOG_FORTRAN_HANDLE(TYPE, TO_C)                                      \
  template <>                                                                   \
  class FortranArgument<TYPE> {                                                 \
   public:                                                                      \
    explicit FortranArgument(void* given) : given_(given) {}                    \
    [[nodiscard]] void* passed() { return given_; }                             \
    [[nodiscard]] TYPE in_c() { return TO_C(*static_cast<MPI_Fint*>(given_)); } \
                                                                                \
   private:                                                                     \
    void* given_;                                                               \
  };                                                                            \
  template <>                                                                   \
  class FortranArgument<TYPE*> {                                                \
   public:                                                                      \
    explicit FortranArgument(void* given) : given_(given) {}                    \
    [[nodiscard]] void* passed() { return given_; }                             \
    [[nodiscard]] TYPE* in_c() {                                                \
      handle_ = TO_C(*static_cast<MPI_Fint*>(given_));                          \
      return &handle_;                                                          \
    }                                                                           \
                                                                                \
   private:                                                                     \
    void* given_;                                                               \
    TYPE handle_{};                                                             \
  };
CHIPLOG_FORTRAN_HANDLE(MPI_Comm, PMPI_Comm_f2c)
CHIPLOG_FORTRAN_HANDLE(MPI_Datatype, PMPI_Type_f2c)
CHIPLOG_FORTRAN_HANDLE(MPI_Request, PMPI_Request_f2c)
CHIPLOG_FORTRAN_HANDLE(MPI_Win, PMPI_Win_f2c)
CHIPLOG_FORTRAN_HANDLE(MPI_Info, PMPI_Info_f2c)
CHIPLOG_FORTRAN_HANDLE(MPI_Op, PMPI_Op_f2c)
CHIPLOG_FORTRAN_HANDLE(MPI_Group, PMPI_Group_f2c)
CHIPLOG_FORTRAN_HANDLE(MPI_Message, PMPI_Message_f2c)
#undef CHIPLOG_FORTRAN_HANDLE

// Arrays of types: how long they are is not known here, so their bytes are not counted.
template <>
class FortranArgument<const MPI_Datatype*> {
 public:
  explicit FortranArgument(void* given) : given_(given) {}
  [[nodiscard]] void* passed() { return given_; }
  [[nodiscard]] const MPI_Datatype* in_c() { return nullptr; }

 private:
  void* given_;
};
#endif

}  // namespace chiplog::tracer
