/** From what the service lends to files of the session's own, by commands in its sandbox. */
import { quoted } from '@steward/sandbox/quoted.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { RepositoryFailure } from './failure.ts'

const cloneMs = 15 * 60_000
const codes = { taken: 76, noCommit: 77 }
/** As shells say it. */
export const noProgram = 127
/** Nothing that stands elsewhere in the sandbox has a say. */
const settings = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
}

/**
 * Paths as commands see them. `commit`: to check out, null for a repository that has none yet; `isNamed`: by whoever
 * made the session, and not by the repository's server.
 */
export type Clone = { from: string; to: string; commit: string | null; isNamed: boolean }

/** Lost: what was lent does not hold what it should. */
export type Cloned = 'there' | 'lost'

/** Does nothing where a repository stands already. Throws `RepositoryFailure`. */
export async function cloneInto(sandbox: Sandbox, clone: Clone): Promise<Cloned> {
  const command = script(clone)
  const limits = { timeoutMs: cloneMs, secretEnv: settings }
  const { ended, exitCode, output } = await sandbox.shell({ command, ...limits })
  if (ended !== 'exit') throw new RepositoryFailure('clone', 'to lay it out took too long')
  if (exitCode === codes.noCommit && clone.isNamed)
    throw new RepositoryFailure('checkout', `it has no commit ${clone.commit}`)
  if (exitCode === codes.taken)
    throw new RepositoryFailure('clone', 'something else lies at its place')
  if (exitCode === 0) return 'there'
  if (exitCode === noProgram)
    throw new RepositoryFailure('clone', 'git is not installed in the sandbox')
  if (
    exitCode === codes.noCommit ||
    /\b(missing|corrupt|unable to read|bad object|loose object)\b/i.test(output)
  )
    return 'lost'
  const why = output.trim().split('\n').at(-1)?.slice(0, 300)
  throw new RepositoryFailure('clone', `it could not be laid out: ${why}`)
}

/** Whether one stands there, whoever put it there. */
export async function isCloned(sandbox: Sandbox, to: string): Promise<boolean> {
  const command = `[ -e ${quoted(to)}/.git ]`
  const { exitCode } = await sandbox.shell({ command, timeoutMs: 30_000, secretEnv: {} })
  return exitCode === 0
}

/** In its place only once it is whole. */
const script = ({ from, to, commit }: Clone): string => `
  set -e
  from=${quoted(from)} to=${quoted(to)}
  [ ! -e "$to/.git" ] || exit 0
  [ ! -e "$to" ] || [ -z "$(ls -A "$to")" ] || exit ${codes.taken}
  new="$to.cloning"
  [ ! -e "$new" ] || rm -rf "$new"
  mkdir -p "$new"
  cp -R "$from" "$new/.git"
  ${commit === null ? '' : checkout(commit)}
  mv -T "$new" "$to"
`

const checkout = (commit: string): string => `
  if ! git -C "$new" reset -q --hard; then
    git -C "$new" cat-file -e '${commit}^{commit}' || { rm -rf "$new"; exit ${codes.noCommit}; }
    exit 1
  fi
`
