/**
 * A system-call filter as data: classic BPF, which bubblewrap loads before the agent runs. It closes what the
 * namespaces leave open: other socket families (AF_VSOCK reaches a hypervisor), raw sockets, netlink but for what
 * looks up addresses, new namespaces, mounts, the kernel's own programs and keys, io_uring, other processes' memory,
 * and typing into a terminal.
 */
type Arch = 'x64' | 'arm64'

/** Numbers of the refused calls, by machine. */
const refused: Record<string, Record<Arch, number>> = {
  acct: { x64: 163, arm64: 89 },
  add_key: { x64: 248, arm64: 217 },
  bpf: { x64: 321, arm64: 280 },
  clock_settime: { x64: 227, arm64: 112 },
  delete_module: { x64: 176, arm64: 106 },
  finit_module: { x64: 313, arm64: 273 },
  fsconfig: { x64: 431, arm64: 431 },
  fsmount: { x64: 432, arm64: 432 },
  fsopen: { x64: 430, arm64: 430 },
  fspick: { x64: 433, arm64: 433 },
  init_module: { x64: 175, arm64: 105 },
  io_uring_enter: { x64: 426, arm64: 426 },
  io_uring_register: { x64: 427, arm64: 427 },
  io_uring_setup: { x64: 425, arm64: 425 },
  kexec_file_load: { x64: 320, arm64: 294 },
  kexec_load: { x64: 246, arm64: 104 },
  keyctl: { x64: 250, arm64: 219 },
  lookup_dcookie: { x64: 212, arm64: 18 },
  mount: { x64: 165, arm64: 40 },
  mount_setattr: { x64: 442, arm64: 442 },
  move_mount: { x64: 429, arm64: 429 },
  move_pages: { x64: 279, arm64: 239 },
  nfsservctl: { x64: 180, arm64: 42 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  open_tree: { x64: 428, arm64: 428 },
  perf_event_open: { x64: 298, arm64: 241 },
  pidfd_getfd: { x64: 438, arm64: 438 },
  pivot_root: { x64: 155, arm64: 41 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  quotactl: { x64: 179, arm64: 60 },
  reboot: { x64: 169, arm64: 142 },
  request_key: { x64: 249, arm64: 218 },
  setns: { x64: 308, arm64: 268 },
  settimeofday: { x64: 164, arm64: 170 },
  swapoff: { x64: 168, arm64: 225 },
  swapon: { x64: 167, arm64: 224 },
  syslog: { x64: 103, arm64: 116 },
  umount2: { x64: 166, arm64: 39 },
  unshare: { x64: 272, arm64: 97 },
  userfaultfd: { x64: 323, arm64: 282 },
  vhangup: { x64: 153, arm64: 58 },
}

const judged: Record<
  'clone' | 'clone3' | 'ioctl' | 'socket' | 'socketpair',
  Record<Arch, number>
> = {
  clone: { x64: 56, arm64: 220 },
  clone3: { x64: 435, arm64: 435 },
  ioctl: { x64: 16, arm64: 29 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
}

const machines: Record<Arch, number> = { x64: 0xc000003e, arm64: 0xc00000b7 }
/** Calls above this are of the x32 ABI, which has other numbers for the same calls. */
const x32 = 0x40000000
const newNamespaces = 0x7e020080
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 }
/** What is left of a socket's type without its flags, and the types that carry no headers of their own. */
const socketTypes = { mask: 0xf, stream: 1, datagram: 2 }
const netlinkRoute = 0
const terminalInput = [0x5412, 0x541c]
const errors = { EPERM: 1, ENOSYS: 38, EPROTONOSUPPORT: 93, EAFNOSUPPORT: 97 }

const code = { load: 0x20, and: 0x54, equal: 0x15, atLeast: 0x35, anyBit: 0x45, return: 0x06 }
const verdicts = {
  allow: 0x7fff0000,
  kill: 0x80000000,
  error: (errno: number) => 0x00050000 | errno,
}
/** Offsets in the record that a filter judges. */
const at = { number: 0, machine: 4, firstArgument: 16, secondArgument: 24, thirdArgument: 32 }

type Instruction = { code: number; ifTrue: number; ifFalse: number; value: number }
const step = (op: number, value: number, ifTrue = 0, ifFalse = 0): Instruction => ({
  code: op,
  value: value >>> 0,
  ifTrue,
  ifFalse,
})
const give = (verdict: number) => step(code.return, verdict)

/** Jumps over the body unless the loaded number is this one; the body decides, or falls through. */
const when = (number: number, body: Instruction[]): Instruction[] => [
  step(code.equal, number, 0, body.length),
  ...body,
]

/** Of the calls that make sockets: family, type and protocol are judged. */
function judgeSocket(): Instruction[] {
  const allow = give(verdicts.allow)
  const ofInternet = [
    step(code.load, at.secondArgument),
    step(code.and, socketTypes.mask),
    ...when(socketTypes.stream, [allow]),
    ...when(socketTypes.datagram, [allow]),
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

function program(arch: Arch): Instruction[] {
  const deny = give(verdicts.error(errors.EPERM))
  return [
    step(code.load, at.machine),
    step(code.equal, machines[arch], 1, 0),
    give(verdicts.kill),
    step(code.load, at.number),
    ...(arch === 'x64' ? [step(code.atLeast, x32, 0, 1), give(verdicts.error(errors.ENOSYS))] : []),
    // Not there, says the kernel, and the C library falls back to clone, whose flags can be judged.
    ...when(judged.clone3[arch], [give(verdicts.error(errors.ENOSYS))]),
    ...Object.values(refused).flatMap((numbers) => when(numbers[arch], [deny])),
    ...when(judged.clone[arch], [
      step(code.load, at.firstArgument),
      step(code.anyBit, newNamespaces, 0, 1),
      deny,
      give(verdicts.allow),
    ]),
    ...when(judged.ioctl[arch], [
      step(code.load, at.secondArgument),
      ...terminalInput.flatMap((request) => when(request, [deny])),
      give(verdicts.allow),
    ]),
    ...when(judged.socket[arch], judgeSocket()),
    ...when(judged.socketpair[arch], judgeSocket()),
    give(verdicts.allow),
  ]
}

/** The filter as the kernel reads it: eight bytes an instruction. */
export function seccompFilter(arch: string = process.arch): Buffer {
  if (arch !== 'x64' && arch !== 'arm64')
    throw new Error(`there is no system-call filter for ${arch}`)
  const instructions = program(arch)
  const bytes = Buffer.alloc(instructions.length * 8)
  for (const [index, each] of instructions.entries()) {
    bytes.writeUInt16LE(each.code, index * 8)
    bytes.writeUInt8(each.ifTrue, index * 8 + 2)
    bytes.writeUInt8(each.ifFalse, index * 8 + 3)
    bytes.writeUInt32LE(each.value, index * 8 + 4)
  }
  return bytes
}
