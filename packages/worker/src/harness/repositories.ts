/**
 * Clones the session's repositories inside its sandbox by their plain URLs. The service adds tokens when the requests
 * leave. An existing file or folder in the working folder stays unchanged. [worker/input/repositories]
 */
import { join, posix } from 'node:path'
import type Anthropic from '@anthropic-ai/sdk'
import type { RepositoryFailed } from '@steward/protocol/inputs.ts'
import { quoteWord } from '@steward/sandbox/quote-word.ts'
import type { Sandbox, ShellResult } from '@steward/sandbox/sandbox.ts'
import { z } from 'zod'
import type { MountInput, InputTarget, ClientSession } from './input.ts'

/** The session's log has the error already. */
export class CloneFailedError extends Error {}

type RepositoryInput = Extract<ClientSession['resources'][number], { type: 'github_repository' }>
/** Fields of a repository beyond the types of the client. */
const Resolved = z.object({ resolved_path: z.string() })
type CloneFailure = { type: RepositoryFailed['type']; message: string }

const cloneMs = 14 * 60_000
const codes = { taken: 76, noCommit: 77, noGit: 127 }
/** Keeps git from reading other settings in the sandbox and from asking for a password. */
const settings = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  LC_ALL: 'C',
}

export const mountRepositories: MountInput = async (target) => {
  const repositories = repositoriesOf(target.session)
  if (repositories.length === 0) return {}
  return {
    async started(sandbox) {
      for (const each of repositories) await bring(target, sandbox, each)
    },
  }
}

export const repositoriesOf = ({ resources }: ClientSession): RepositoryInput[] =>
  resources.filter((each) => each.type === 'github_repository')

/** Throws when the repository cannot be cloned. The session's log then has the reason. */
async function bring(
  target: InputTarget,
  sandbox: Sandbox,
  repository: RepositoryInput,
): Promise<void> {
  const { url } = repository
  const { resolved_path } = Resolved.parse(repository)
  const command = script(repository, pathOf(target, resolved_path))
  const failure = failureOf(
    await sandbox.shell({ command, timeoutMs: cloneMs, secretEnv: settings }),
  )
  if (!failure) return
  await tell(target.client, target.session.id, repository.id, failure)
  throw new CloneFailedError(`${url} was not cloned into ${resolved_path}: ${failure.message}`)
}

async function tell(client: Anthropic, session: string, id: string, failure: CloneFailure) {
  const body: RepositoryFailed = { ...failure, message: failure.message.slice(0, 500) }
  await client.post(`/v1/ext/inputs/${session}/repositories/${id}/failure`, { body })
}

function pathOf({ isHost, workdir }: InputTarget, path: string): string {
  return isHost ? join(workdir, posix.relative('/workspace', path)) : path
}

/** Clones into a temporary folder and moves it into place when it is complete. */
function script({ url, checkout }: RepositoryInput, to: string): string {
  const branch = checkout?.type === 'branch' ? `--branch ${quoteWord(checkout.name)}` : ''
  const commit = checkout?.type === 'commit' ? `at ${quoteWord(checkout.sha)}` : ''
  return `
    to=${quoteWord(to)} url=${quoteWord(url)}
    new="$to.cloning"
    at() {
      git -C "$new" cat-file -e "$1^{commit}" 2>/dev/null ||
        git -C "$new" fetch -q origin "$1" 2>/dev/null || exit ${codes.noCommit}
      git -C "$new" -c advice.detachedHead=false checkout -q --detach "$1"
    }
    set -e
    [ ! -e "$to/.git" ] || exit 0
    [ ! -e "$to" ] || [ -z "$(ls -A "$to")" ] || exit ${codes.taken}
    rm -rf "$new"
    mkdir -p "$(dirname "$to")"
    git clone -q ${branch} ${commit ? '--no-checkout' : ''} -- "$url" "$new"
    ${commit}
    mv -T "$new" "$to"
  `
}

const said: [RegExp, CloneFailure['type'], string][] = [
  [
    /could not read Username|Authentication failed|returned error: 401/i,
    'repository_authentication_error',
    'its server wants a token, or another one',
  ],
  [/returned error: 403/i, 'repository_forbidden_error', 'its server refuses the token'],
  [
    /repository .* not found|returned error: (404|410)/i,
    'repository_not_found_error',
    'its server has no such repository',
  ],
  [/Remote branch .* not found/i, 'repository_checkout_error', 'it has no such branch'],
  [
    /(CONNECT tunnel failed|from proxy after CONNECT).*403|response 403/i,
    'repository_clone_error',
    'the environment does not admit its host, or the service refuses the way out',
  ],
]

function failureOf({ ended, exitCode, output }: ShellResult): CloneFailure | undefined {
  if (exitCode === 0) return undefined
  const failed = (message: string): CloneFailure => ({ type: 'repository_clone_error', message })
  if (ended !== 'exit') return failed('to clone it took too long')
  if (exitCode === codes.taken) return failed('something else lies at its place')
  if (exitCode === codes.noGit) return failed('git is not installed in the sandbox')
  if (exitCode === codes.noCommit)
    return { type: 'repository_checkout_error', message: 'it has no such commit' }
  const found = said.find(([form]) => form.test(output))
  if (found) return { type: found[1], message: found[2] }
  return failed(output.trim().split('\n').at(-1)?.slice(0, 300) || `git ended with ${exitCode}`)
}
