/**
 * A system-call filter as data: classic BPF, which bubblewrap loads before the sandbox daemon runs. Listed calls are
 * allowed. Calls for sockets, clones and ioctls are decided by their arguments. The filter closes attacks that
 * namespaces leave open: other socket families (AF_VSOCK reaches a hypervisor), raw sockets, protocols other than TCP
 * and UDP, netlink except for address lookup, new namespaces, mounts, kernel modules and keys, io_uring, memory of
 * other processes, typing into a terminal, and all calls that a later kernel adds.
 */
import type { CallArch } from './calls.ts'
import { allowedCalls, judgedCalls, refusedCalls } from './calls.ts'

const machines: Record<CallArch, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }
/** Calls from here on belong to the x32 ABI, which has other numbers for the same calls. */
const x32 = 0x40000000
const newNamespaces = 0x7e020080
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 }
/** `mask` removes the flags from a socket's type. The two types are those without headers of their own. */
const socketTypes = { mask: 0xf, stream: 1, datagram: 2 }
/**
 * The first protocol is the default of the type. MPTCP, SCTP and UDP-Lite are kernel code that few people have
 * reviewed.
 */
const protocols = { stream: [0, 6], datagram: [0, 17] }
const netlinkRoute = 0
const terminalInput = [0x5412, 0x541c]
/**
 * ioctls that reserve disk space at once, like fallocate: the quota could not react in time. Programs write the bytes
 * instead.
 */
const reservations = [0x40305828, 0x4030582a, 0x40305839]
const errors = { EPERM: 1, ENOSYS: 38, EPROTONOSUPPORT: 93, EOPNOTSUPP: 95, EAFNOSUPPORT: 97 }

const code = { load: 0x20, and: 0x54, equal: 0x15, atLeast: 0x35, anyBit: 0x45, return: 0x06 }
const verdicts = {
  allow: 0x7fff0000,
  kill: 0x80000000,
  error: (errno: number) => 0x00050000 | errno,
}
/** Offsets in the record that the filter reads. */
const at = { number: 0, machine: 4, firstArgument: 16, secondArgument: 24, thirdArgument: 32 }

type Instruction = { code: number; ifTrue: number; ifFalse: number; value: number }
const step = (op: number, value: number, ifTrue = 0, ifFalse = 0): Instruction => ({
  code: op,
  value: value >>> 0,
  ifTrue,
  ifFalse,
})
const give = (verdict: number) => step(code.return, verdict)

/**
 * Runs the body if the loaded number equals `number`, else jumps over it. The body returns a verdict or falls through.
 */
const when = (number: number, body: Instruction[]): Instruction[] => [
  step(code.equal, number, 0, body.length),
  ...body,
]

/** Decides calls that create sockets by family, type and protocol. */
function judgeSocket(): Instruction[] {
  const allow = give(verdicts.allow)
  const ofProtocols = (known: readonly number[]) => [
    step(code.load, at.thirdArgument),
    ...known.flatMap((protocol) => when(protocol, [allow])),
    give(verdicts.error(errors.EPROTONOSUPPORT)),
  ]
  const ofInternet = [
    step(code.load, at.secondArgument),
    step(code.and, socketTypes.mask),
    ...when(socketTypes.stream, ofProtocols(protocols.stream)),
    ...when(socketTypes.datagram, ofProtocols(protocols.datagram)),
    give(verdicts.error(errors.EPERM)),
  ]
  const ofNetlink = [
    step(code.load, at.thirdArgument),
    ...when(netlinkRoute, [allow]),
    give(verdicts.error(errors.EPROTONOSUPPORT)),
  ]
  return [
    step(code.load, at.firstArgument),
    ...when(families.unix, [allow]),
    ...when(families.inet, ofInternet),
    ...when(families.inet6, ofInternet),
    ...when(families.netlink, ofNetlink),
    give(verdicts.error(errors.EAFNOSUPPORT)),
  ]
}

type CallRange = { first: number; verdict: number }

/** Verdicts that do not depend on arguments: from each first number to the next, ascending. */
function rangesOf(arch: CallArch): CallRange[] {
  const verdictOf = new Map<number | undefined, number>()
  const all = (calls: typeof allowedCalls, verdict: number) => {
    for (const numbers of Object.values(calls)) verdictOf.set(numbers[arch], verdict)
  }
  all(allowedCalls, verdicts.allow)
  all(refusedCalls, verdicts.error(errors.EPERM))
  verdictOf.set(judgedCalls.fallocate[arch], verdicts.error(errors.EOPNOTSUPP))
  const largest = Math.max(...[...verdictOf.keys()].map((number) => number ?? 0))
  const ranges: CallRange[] = []
  for (let first = 0; first <= largest + 1; first++) {
    // The answer is ENOSYS, as for an unknown call. For clone3 the C library then uses clone, whose flags can be read.
    const verdict = verdictOf.get(first) ?? verdicts.error(errors.ENOSYS)
    if (ranges.at(-1)?.verdict !== verdict) ranges.push({ first, verdict })
  }
  return ranges
}

/** A binary search over the ranges, because the kernel runs the filter for every call. */
function search(ranges: readonly CallRange[]): Instruction[] {
  const half = ranges.length >> 1
  const middle = ranges[half]
  if (half === 0 || !middle) return ranges.map(({ verdict }) => give(verdict))
  const below = search(ranges.slice(0, half))
  return [
    step(code.atLeast, middle.first, below.length, 0),
    ...below,
    ...search(ranges.slice(half)),
  ]
}

function program(arch: CallArch): Instruction[] {
  const deny = give(verdicts.error(errors.EPERM))
  const notSupported = give(verdicts.error(errors.EOPNOTSUPP))
  return [
    step(code.load, at.machine),
    step(code.equal, machines[arch], 1, 0),
    give(verdicts.kill),
    step(code.load, at.number),
    ...(arch === 'x64' ? [step(code.atLeast, x32, 0, 1), give(verdicts.error(errors.ENOSYS))] : []),
    ...when(judgedCalls.clone[arch], [
      step(code.load, at.firstArgument),
      step(code.anyBit, newNamespaces, 0, 1),
      deny,
      give(verdicts.allow),
    ]),
    ...when(judgedCalls.ioctl[arch], [
      step(code.load, at.secondArgument),
      ...terminalInput.flatMap((request) => when(request, [deny])),
      ...reservations.flatMap((request) => when(request, [notSupported])),
      give(verdicts.allow),
    ]),
    ...when(judgedCalls.socket[arch], judgeSocket()),
    ...when(judgedCalls.socketpair[arch], judgeSocket()),
    ...search(rangesOf(arch)),
  ]
}

const made = new Map<string, Buffer>()

/** The filter in the kernel's format: eight bytes an instruction. */
export function seccompFilter(arch: string = process.arch): Buffer {
  if (arch !== 'x64' && arch !== 'arm64')
    throw new Error(`there is no system-call filter for ${arch}`)
  const known = made.get(arch)
  if (known) return known
  const instructions = program(arch)
  const bytes = Buffer.alloc(instructions.length * 8)
  for (const [index, each] of instructions.entries()) {
    bytes.writeUInt16LE(each.code, index * 8)
    bytes.writeUInt8(each.ifTrue, index * 8 + 2)
    bytes.writeUInt8(each.ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(each.value, index * 8 + 4)
  }
  made.set(arch, bytes)
  return bytes
}
