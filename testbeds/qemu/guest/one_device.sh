# To be sourced in the guest: one soft-RoCE device, rxe0 (10.9.0.1), for what finds its peer by IP address: two ranks
# share it.

ip link set lo up
ip link add v0 mtu 4400 type veth peer name v1 mtu 4400
ip addr add 10.9.0.1/24 dev v0
ip link set v0 up
ip link set v1 up
sysctl -qw net.core.netdev_max_backlog=20000
rdma link add rxe0 type rxe netdev v0
ulimit -l unlimited
