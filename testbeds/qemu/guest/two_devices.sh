# To be sourced in the guest: two soft-RoCE devices, rxe0 (10.9.0.1, on v0) and rxe1 (10.9.0.2, on v1), joined by a veth
# pair within one network stack. soft-RoCE knows no other network namespace than the first, so packets between two
# addresses of one host have to be made to leave it.

ip link set lo up
# Room for RDMA's largest packets, and for as many of them as a device sends at once: what is dropped is sent again late.
ip link add v0 mtu 4400 type veth peer name v1 mtu 4400
sysctl -qw net.core.netdev_max_backlog=20000
for i in 0 1; do
  ip addr add 10.9.0.$((i + 1))/32 dev v$i
  ip link set v$i up
  sysctl -qw net.ipv4.conf.v$i.accept_local=1 net.ipv4.conf.v$i.rp_filter=0
done
sysctl -qw net.ipv4.conf.all.rp_filter=0

# Both addresses are local only to what comes in over the pair; to all else they are at its other end.
ip rule add pref 10 iif v0 lookup local
ip rule add pref 11 iif v1 lookup local
ip rule add pref 20 from 127.0.0.0/8 lookup local
ip rule add pref 21 to 127.0.0.0/8 lookup local
ip rule add pref 200 lookup main
ip rule add pref 300 lookup local
ip rule del pref 0
ip route add 10.9.0.2/32 dev v0 src 10.9.0.1
ip route add 10.9.0.1/32 dev v1 src 10.9.0.2
ip neigh replace 10.9.0.2 lladdr "$(cat /sys/class/net/v1/address)" dev v0 nud permanent
ip neigh replace 10.9.0.1 lladdr "$(cat /sys/class/net/v0/address)" dev v1 nud permanent

rdma link add rxe0 type rxe netdev v0
rdma link add rxe1 type rxe netdev v1
ulimit -l unlimited

# Delays every packet by so many microseconds, each way.
delay_each_way_us() {
  for device in v0 v1; do tc qdisc replace dev $device root netem delay "$1us" limit 10000; done
}
