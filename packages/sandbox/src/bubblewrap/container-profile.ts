/**
 * The system-call filter of a container in which bubblewrap starts sandboxes, in the form that Docker, Podman and
 * Kubernetes read: what a sandbox may call, and what makes one. An engine's own filter lets nobody without
 * CAP_SYS_ADMIN make one. Sandboxes have their narrower filter within.
 */
import { allowedCalls, judgedCalls } from './calls.ts'

/** What bubblewrap and the sandbox daemon call before a sandbox is closed. */
const makingCalls = ['mount', 'pivot_root', 'sethostname', 'umount2', 'unshare'] as const

const allow = (names: readonly string[]) =>
  ({ names: names.toSorted(), action: 'SCMP_ACT_ALLOW' }) as const

const { clone3, ...judged } = judgedCalls
const enosys = 38
const eperm = 1

export const containerProfile = {
  defaultAction: 'SCMP_ACT_ERRNO',
  defaultErrnoRet: eperm,
  archMap: [
    { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
    { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] },
  ],
  syscalls: [
    allow([...Object.keys(allowedCalls), ...Object.keys(judged), ...makingCalls]),
    // As an older kernel answers: the C library then uses clone.
    { names: Object.keys({ clone3 }), action: 'SCMP_ACT_ERRNO', errnoRet: enosys },
  ],
} as const
