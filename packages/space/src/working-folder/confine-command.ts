/**
 * Confines programs that work on folders of a session, which may write to them at the same time. A link in such a
 * folder may lead anywhere, so the programs see only these folders and the machine's programs.
 */
import type { ExecFileException } from 'node:child_process'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { runOnce } from '@steward/base/shared-runs.ts'

type VisiblePaths = { reads: readonly string[]; writes: readonly string[] }
type ConfinedCommand = [string, ...string[]]

const bubblewrap = 'bwrap'
const system = ['/usr', '/bin', '/lib', '/lib64', '/etc/ld.so.cache']
/** The programs need these rights because the files belong to the users of their sessions. */
const rights = ['CAP_DAC_OVERRIDE', 'CAP_DAC_READ_SEARCH', 'CAP_FOWNER']

type ConfinementTest = {
  /** True when bubblewrap is installed and able to confine a program. Rejects when the test could not be started. */
  canConfine: () => Promise<boolean>
}

/** Tests `program` as bubblewrap. A success holds for good. A failure may pass, so the next call tests again. */
export function testConfinement(program = bubblewrap): ConfinementTest {
  const test = runOnce(() => {
    const [, ...given] = inside({ reads: [], writes: [] }, ['true'])
    return promisify(execFile)(program, given)
  })
  return {
    canConfine: () =>
      test().then(
        () => true,
        (error: ExecFileException) => {
          const isAnswer = typeof error.code === 'number' || error.signal || error.code === 'ENOENT'
          // Attack: a process without free files or processes would work on a session's links unconfined.
          if (!isAnswer) throw error
          return false
        },
      ),
  }
}

export const { canConfine } = testConfinement()

/** Returns the command unchanged where bubblewrap cannot confine it. */
export const confineCommand = async (
  seen: VisiblePaths,
  command: ConfinedCommand,
): Promise<ConfinedCommand> => ((await canConfine()) ? inside(seen, command) : command)

const inside = ({ reads, writes }: VisiblePaths, command: ConfinedCommand): ConfinedCommand => [
  bubblewrap,
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
