/**
 * Indexes packs from untrusted servers. Git reads each pack in a sandbox of its own without a network; the sandbox
 * holds only the pack and the objects of the same mirror.
 */
import { randomUUID } from 'node:crypto'
import { chmod, lchown, lstat, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { SandboxLimits, SandboxMount, SandboxProvider } from '@steward/sandbox/sandbox.ts'
import { SandboxEnded } from '@steward/sandbox/sandbox.ts'
import { noProgram } from './clone.ts'
import { RepositoryFailure } from './failure.ts'

/** Faults that old histories contain and git reads nevertheless. git-fsck(1) */
const passing = [
  ...['zeroPaddedFilemode', 'missingSpaceBeforeDate', 'badTimezone', 'badDateOverflow'],
  ...['missingSpaceBeforeEmail', 'missingNameBeforeEmail', 'badEmail', 'badName', 'gitmodulesUrl'],
]

export type IndexSettings = {
  provider: SandboxProvider
  limits: SandboxLimits
  /** True when commands of sandboxes see the host's own paths. */
  isHost: boolean
}

/**
 * Checks every object of a pack and that all objects it refers to exist. Then moves the completed pack to `packs`.
 * `folder` is for this pack alone; the caller removes it. Throws `RepositoryFailure`.
 */
export async function indexPack(
  { provider, limits, isHost }: IndexSettings,
  { pack, objects, folder }: { pack: string; objects: string; folder: string },
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  const [workspace, outputs] = [join(folder, 'workspace'), join(folder, 'outputs')]
  for (const each of [workspace, outputs]) await mkdir(each)
  const given: SandboxMount[] = [
    { source: pack, path: '/mnt/incoming.pack', access: 'read' },
    { source: objects, path: '/mnt/objects', access: 'read' },
  ]
  const [incoming = '', there = ''] = given.map(({ source, path }) => (isHost ? source : path))
  const id = `repository-${randomUUID()}`
  const spec = {
    id,
    workspace,
    outputs,
    env: {},
    limits,
    egress: null,
    mounts: given,
    isPrefilled: false,
  }
  try {
    const sandbox = await provider.acquire(spec)
    try {
      const command = script(incoming, there)
      const { ended, exitCode, output } = await sandbox.shell({ command, timeoutMs, signal })
      if (ended !== 'exit') throw new RepositoryFailure('clone', 'to read it took too long')
      if (exitCode === noProgram)
        throw new RepositoryFailure('clone', 'git is not installed where sandboxes run')
      if (exitCode !== 0)
        throw new RepositoryFailure('clone', `it is not sound: ${lastLine(output)}`)
    } finally {
      await sandbox.close()
    }
  } catch (error) {
    if (!(error instanceof SandboxEnded)) throw error
    throw new RepositoryFailure('clone', `it could not be read: ${error.message}`, { cause: error })
  }
  await adopt(workspace, join(objects, 'pack'))
}

const script = (incoming: string, objects: string): string => `
  set -e
  export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0
  git init -q --bare --template= reading
  printf '%s\\n' '${objects}' > reading/objects/info/alternates
  git -C reading index-pack --stdin --fix-thin \\
    --strict=${passing.map((id) => `${id}=ignore`).join(',')} \\
    -o "$PWD/new.idx" "$PWD/new.pack" < '${incoming}'
`

const lastLine = (output: string): string => output.trim().split('\n').at(-1)?.slice(0, 300) ?? ''

/**
 * Moves the pack after the sandbox has ended. Follows no link. The index is moved last, because git finds a pack by its
 * index.
 */
async function adopt(workspace: string, packs: string): Promise<void> {
  const name = `pack-${randomUUID().replaceAll('-', '')}00000000`
  for (const kind of ['pack', 'idx']) {
    const made = join(workspace, `new.${kind}`)
    const found = await lstat(made).catch(() => undefined)
    if (!found?.isFile() || found.nlink !== 1)
      throw new RepositoryFailure('clone', 'git left no index of it')
    const uid = process.getuid?.()
    if (uid !== undefined) await lchown(made, uid, process.getgid?.() ?? uid)
    await chmod(made, 0o444)
    await rename(made, join(packs, `${name}.${kind}`))
  }
}
