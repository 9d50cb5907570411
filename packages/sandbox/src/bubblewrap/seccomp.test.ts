/** The filter of both machines, judged by what the kernel would do with it. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allowedCalls, judgedCalls, refusedCalls } from './calls.ts'
import { seccompFilter } from './seccomp.ts'

const machines = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
const [allow, kill, error] = [0x7fff0000, 0x80000000, 0x00050000]
const errors = { EPERM: 1, ENOSYS: 38, EPROTONOSUPPORT: 93, EAFNOSUPPORT: 97 }

/** Classic BPF, as far as the filter uses it. */
function verdict(filter: Buffer, record: { number: number; machine: number; given?: number[] }) {
  const { number, machine, given = [] } = record
  const words = [number, machine, 0, 0, ...given.flatMap((argument) => [argument, 0])]
  let loaded = 0
  for (let at = 0; ; at++) {
    const value = filter.readUInt32LE(at * 8 + 4)
    const jump = (isTrue: boolean) => (at += filter.readUInt8(at * 8 + (isTrue ? 2 : 3)))
    const code = filter.readUInt16LE(at * 8)
    if (code === 0x20) loaded = words[value / 4] ?? 0
    else if (code === 0x54) loaded = (loaded & value) >>> 0
    else if (code === 0x15) jump(loaded === value)
    else if (code === 0x35) jump(loaded >= value)
    else if (code === 0x45) jump((loaded & value) !== 0)
    else return value
  }
}

for (const arch of ['x64', 'arm64'] as const)
  describe(`the system-call filter of ${arch}`, () => {
    const filter = seccompFilter(arch)
    const of = (number: number, ...given: number[]) =>
      verdict(filter, { number, machine: machines[arch], given })

    it('passes what is listed, refuses what needs power, and knows nothing else', () => {
      const known = new Set(Object.values(judgedCalls).map((numbers) => numbers[arch]))
      for (const [calls, expected] of [
        [allowedCalls, allow] as const,
        [refusedCalls, error | 1] as const,
      ])
        for (const [name, numbers] of Object.entries(calls)) {
          const number = numbers[arch]
          if (number === undefined) continue
          assert.ok(!known.has(number), `${name} is listed twice`)
          known.add(number)
          assert.equal(of(number), expected, name)
        }
      const unknown = Array.from({ length: 1_000 }, (_, number) => number).filter(
        (number) => !known.has(number),
      )
      for (const number of unknown) assert.equal(of(number), error | errors.ENOSYS, String(number))
      for (const [name, number] of Object.entries({ statmount: 457, open_tree_attr: 467 }))
        assert.ok(unknown.includes(number), name)
    })

    it('judges sockets by family, type and protocol', () => {
      const socket = (...given: number[]) => of(judgedCalls.socket[arch], ...given)
      const [stream, datagram, raw, nonBlocking] = [1, 2, 3, 0o4000]
      for (const family of [2, 10]) {
        assert.equal(socket(family, stream | nonBlocking, 0), allow)
        assert.equal(socket(family, stream, 6), allow)
        assert.equal(socket(family, datagram, 17), allow)
        for (const protocol of [132, 262])
          assert.equal(socket(family, stream, protocol), error | errors.EPROTONOSUPPORT)
        for (const protocol of [1, 58, 136])
          assert.equal(socket(family, datagram, protocol), error | errors.EPROTONOSUPPORT)
        assert.equal(socket(family, raw, 0), error | errors.EPERM)
      }
      assert.equal(socket(1, datagram, 0), allow)
      assert.equal(socket(40, stream, 0), error | errors.EAFNOSUPPORT)
    })

    it('makes no process in new namespaces, and none by another machine’s numbers', () => {
      assert.equal(of(judgedCalls.clone[arch], 0x10000000), error | errors.EPERM)
      assert.equal(of(judgedCalls.clone[arch], 0x11), allow)
      assert.equal(of(judgedCalls.clone3[arch]), error | errors.ENOSYS)
      assert.equal(verdict(filter, { number: 0, machine: 0x40000003 }), kill)
    })
  })
