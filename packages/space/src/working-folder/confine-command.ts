/**
 * Confines programs that work on folders of a session, which may write to them at the same time. A link in such a
 * folder may lead anywhere, so the programs see only these folders and the machine's programs.
 */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

type VisiblePaths = { reads: readonly string[]; writes: readonly string[] }
type ConfinedCommand = [string, ...string[]]

const system = ['/usr', '/bin', '/lib', '/lib64', '/etc/ld.so.cache']
/** The programs need these rights because the files belong to the users of their sessions. */
const rights = ['CAP_DAC_OVERRIDE', 'CAP_DAC_READ_SEARCH', 'CAP_FOWNER']
let found: Promise<boolean> | undefined

/** Tests once whether bubblewrap is installed and able to confine a program. */
export const canConfine = (): Promise<boolean> => (found ??= tried())

async function tried(): Promise<boolean> {
  const [program, ...given] = inside({ reads: [], writes: [] }, ['true'])
  return promisify(execFile)(program, given).then(
    () => true,
    () => false,
  )
}

/** Returns the command unchanged where bubblewrap cannot confine it. */
export const confineCommand = async (
  seen: VisiblePaths,
  command: ConfinedCommand,
): Promise<ConfinedCommand> => ((await canConfine()) ? inside(seen, command) : command)

const inside = ({ reads, writes }: VisiblePaths, command: ConfinedCommand): ConfinedCommand => [
  'bwrap',
  '--die-with-parent',
  '--unshare-net',
  '--dev',
  '/dev',
  ...system.flatMap((path) => ['--ro-bind-try', path, path]),
  ...reads.flatMap((path) => ['--ro-bind', path, path]),
  ...writes.flatMap((path) => ['--bind', path, path]),
  ...(process.getuid?.() === 0 ? rights.flatMap((right) => ['--cap-add', right]) : []),
  '--',
  ...command,
]
