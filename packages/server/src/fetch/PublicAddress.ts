/**
 * Decides whether an IP address belongs to the public internet. Pure. An IPv4 address is public unless IANA reserves it
 * for a special purpose. An IPv6 address is public only inside the global unicast space, minus special purposes.
 * Unknown and unreadable addresses are refused, so a new kind of private IPv6 address is refused too.
 */
import { BlockList, isIPv4, isIPv6 } from "node:net"

type Block = readonly [network: string, bits: number]

/** IANA's IPv4 Special-Purpose Address Registry, multicast, and one address of Azure. */
const SPECIAL_IPV4: ReadonlyArray<Block> = [
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carriers' NAT; clouds put metadata there
  ["127.0.0.0", 8], // loopback
  ["169.254.0.0", 16], // link-local; metadata of most clouds
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // protocol assignments
  ["192.0.2.0", 24], // documentation
  ["192.31.196.0", 24], // AS112
  ["192.52.193.0", 24], // AMT
  ["192.88.99.0", 24], // 6to4 relays
  ["192.168.0.0", 16], // private
  ["192.175.48.0", 24], // AS112
  ["198.18.0.0", 15], // benchmarking
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, broadcast
  ["168.63.129.16", 32] // looks public, but reaches the host of every machine in Azure
]

/** The global unicast space. `::`, `::1`, mapped, compatible, fc00::/7, fe80::/10 and ff00::/8 are outside of it. */
const GLOBAL_IPV6: ReadonlyArray<Block> = [
  ["2000::", 3],
  ["64:ff9b::", 96] // NAT64: IPv4 addresses as IPv6-only hosts write them
]

/** Special-purpose blocks inside the global unicast space. */
const SPECIAL_IPV6: ReadonlyArray<Block> = [
  ["2001::", 23], // protocol assignments: Teredo, benchmarking, ORCHID
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4: contains an IPv4 address
  ["2620:4f:8000::", 48], // AS112
  ["3fff::", 20], // documentation
  ...SPECIAL_IPV4.map(([network, bits]): Block => [`64:ff9b::${network}`, 96 + bits])
]

/** True where the address belongs to the public internet. Accepts the text of a resolver or of a canonical URL. */
export const isPublic = (address: string): boolean => {
  if (isIPv4(address)) return !special4.check(address, "ipv4")
  if (!isIPv6(address) || address.includes("%")) return false
  return global6.check(address, "ipv6") && !special6.check(address, "ipv6")
}

const listOf = (blocks: ReadonlyArray<Block>, family: "ipv4" | "ipv6"): BlockList => {
  const list = new BlockList()
  for (const [network, bits] of blocks) list.addSubnet(network, bits, family)
  return list
}

const special4 = listOf(SPECIAL_IPV4, "ipv4")
const special6 = listOf(SPECIAL_IPV6, "ipv6")
const global6 = listOf(GLOBAL_IPV6, "ipv6")
