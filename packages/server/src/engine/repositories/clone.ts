/** Clones a repository by commands in the session's sandbox, from the objects that the service has mounted. */
import { quoteWord } from '@steward/sandbox/quote-word.ts'
import type { Sandbox } from '@steward/sandbox/sandbox.ts'
import { RepositoryFailure } from './failure.ts'

const cloneMs = 15 * 60_000
const codes = { taken: 76, noCommit: 77 }
/** Exit code of shells for a missing program. */
export const noProgram = 127
/** Variables that keep git from reading other settings in the sandbox. */
const settings = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
}

/**
 * Paths inside the sandbox. `commit`: the commit to check out; null for an empty repository. `isNamed`: the creator of
 * the session named the commit.
 */
export type Clone = { from: string; to: string; commit: string | null; isNamed: boolean }

/** `lost`: the mounted objects are incomplete. */
export type CloneState = 'there' | 'lost'

/** Does nothing when a repository exists at `to`. Throws `RepositoryFailure`. */
export async function cloneInto(sandbox: Sandbox, clone: Clone): Promise<CloneState> {
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

/** True when a repository exists at `to`, whoever created it. */
export async function isCloned(sandbox: Sandbox, to: string): Promise<boolean> {
  const command = `[ -e ${quoteWord(to)}/.git ]`
  const { exitCode } = await sandbox.shell({ command, timeoutMs: 30_000, secretEnv: {} })
  return exitCode === 0
}

/** Clones into a temporary folder and moves it into place when it is complete. */
const script = ({ from, to, commit }: Clone): string => `
  set -e
  from=${quoteWord(from)} to=${quoteWord(to)}
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
