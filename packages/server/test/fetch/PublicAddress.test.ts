/** The tables of special addresses against an independent list and independent arithmetic. */
import { describe, expect, it } from "@effect/vitest"
import { isPublic } from "@sluice/server/fetch/PublicAddress"
import fc from "fast-check"

/** A second transcription of IANA's registries, on purpose. */
const SPECIAL4 =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24 " +
  "192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 " +
  "224.0.0.0/4 240.0.0.0/4 168.63.129.16/32"
/** The first groups and the bits; every other IPv6 address outside of 2000::/3 is special too. */
const SPECIAL6 = "2001:0/23 2001:db8/32 2002/16 2620:4f:8000/48 3fff:0/20"

const blocks4 = SPECIAL4.split(" ").map((block) => {
  const [network = "", bits = ""] = block.split("/")
  return { start: number4(network), bits: Number(bits) }
})
const blocks6 = SPECIAL6.split(" ").map((block) => {
  const [groups = "", bits = ""] = block.split("/")
  const given = groups.split(":").map((group) => BigInt(`0x${group}`))
  const start = [...given, ...Array.from({ length: 8 - given.length }, () => 0n)]
  return { start: start.reduce((sum, group) => (sum << 16n) | group, 0n), bits: BigInt(bits) }
})

function number4(address: string): number {
  return address.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0)
}
const text4 = (value: number) => [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join(".")
const isSpecial4 = (value: number) =>
  blocks4.some(({ bits, start }) => Math.floor(value / 2 ** (32 - bits)) === Math.floor(start / 2 ** (32 - bits)))

const groupsOf = (value: bigint) =>
  Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))
/** The short and the full form. A resolver may write either. */
const text6 = (value: bigint) => groupsOf(value).join(":")
const short6 = (value: bigint) => new URL(`http://[${text6(value)}]`).hostname.slice(1, -1)
const isPublic6 = (value: bigint): boolean =>
  value >> 32n === 0x64ff9b0000000000000000n
    ? !isSpecial4(Number(value & 0xffffffffn))
    : value >> 125n === 1n && !blocks6.some(({ bits, start }) => value >> (128n - bits) === start >> (128n - bits))

const any4 = fc.nat(0xffffffff)
const any6 = fc.bigInt(0n, (1n << 128n) - 1n)
/** Addresses near the ends of blocks, where mistakes are likely. */
const edge4 = fc
  .tuple(fc.constantFrom(...blocks4), fc.integer({ min: -2, max: 2 }), fc.boolean())
  .map(([{ bits, start }, off, end]) => Math.min(0xffffffff, Math.max(0, start + (end ? 2 ** (32 - bits) : 0) + off)))
const edge6 = fc
  .tuple(fc.constantFrom(...blocks6, { start: 1n << 125n, bits: 3n }), fc.bigInt(-2n, 2n), fc.boolean())
  .map(([{ bits, start }, off, end]) => start + (end ? 1n << (128n - bits) : 0n) + off)
const nat64 = fc.oneof(any4, edge4).map((value) => (0x64ff9bn << 96n) | BigInt(value))

describe("isPublic", () => {
  it("agrees with the registries on any IPv4 address", () => {
    fc.assert(
      fc.property(fc.oneof(any4, edge4), (value) => {
        expect(isPublic(text4(value)), text4(value)).toBe(!isSpecial4(value))
      }),
      { numRuns: 20_000 }
    )
  })

  it("agrees with the registries on any IPv6 address in any notation", () => {
    const global6 = fc.bigInt(1n << 125n, (1n << 126n) - 1n)
    let open = 0
    fc.assert(
      fc.property(fc.oneof(any6, global6, edge6, nat64), (value) => {
        if (isPublic6(value)) open++
        expect(isPublic(text6(value)), text6(value)).toBe(isPublic6(value))
        expect(isPublic(short6(value)), short6(value)).toBe(isPublic6(value))
      }),
      { numRuns: 20_000 }
    )
    expect(open).toBeGreaterThan(4_000)
  })

  it("refuses every IPv4 address inside IPv6, unless NAT64 leads to a public one", () => {
    fc.assert(
      fc.property(any4, (value) => {
        const dotted = text4(value)
        for (const disguised of [`::ffff:${dotted}`, `::${dotted}`, `::ffff:0:${dotted}`, `64:ff9b:1::${dotted}`]) {
          expect(isPublic(disguised), disguised).toBe(false)
        }
        expect(isPublic(`64:ff9b::${dotted}`)).toBe(!isSpecial4(value))
      })
    )
  })

  it("refuses text that is no address", () => {
    for (const text of [
      "",
      "example.com",
      "8.8.8",
      "8.8.8.8 ",
      "08.8.8.8",
      "2606:4700::1%eth0",
      "[2606:4700::1]",
      "::g"
    ]) {
      expect(isPublic(text), text).toBe(false)
    }
    for (const text of ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2001:4860:4860::8888"]) {
      expect(isPublic(text), text).toBe(true)
    }
  })
})
