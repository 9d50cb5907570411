/**
 * The daemon as an ordinary process, without any isolation. For trials, and for machines that support no other
 * provider.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expectStarted } from '@steward/base/started-program.ts'
import { rgPath } from '@vscode/ripgrep'
import { daemonBinary } from './daemon/binary.ts'
import { egressVariables } from './egress/variables.ts'
import { loopbackBridge } from './egress/loopback.ts'
import { forgetRecord, killRecorded, writeRecord } from './record.ts'
import { remoteSandbox } from './daemon-sandbox.ts'
import type { FileFailure, Sandbox, SandboxProvider, SandboxSpec } from './sandbox.ts'
import { outputsPath, SandboxEnded } from './sandbox.ts'

const endWithinMs = 2_000
const usualPath = '/usr/local/bin:/usr/bin:/bin'
const noImages = 'the sandboxes of this server (local) start from no image'

export function localSandboxes(): SandboxProvider {
  return {
    name: 'local',
    refuseImage: () => noImages,
    systemOf: () => undefined,
    imageOf: async () => undefined,
    check: async () => ({
      ok: true,
      isolation: { level: 'none', network: 'host', gate: false, limits: 'none', users: 'shared' },
    }),
    acquire: start,
    async reap({ workspace }) {
      await killRecorded(workspace, 'SIGTERM')
      removeScratch(workspace)
    },
  }
}

/** Prefix of folders beside a working folder: shell state, spilled output, and the home of commands. */
const scratchPrefix = 'local-'

function removeScratch(workspace: string): void {
  const folder = dirname(workspace)
  if (!existsSync(folder)) return
  const names = readdirSync(folder).filter((name) => name.startsWith(scratchPrefix))
  for (const name of names) rmSync(join(folder, name), { recursive: true, force: true })
}

async function start(spec: SandboxSpec): Promise<Sandbox> {
  if (spec.image !== undefined) throw new SandboxEnded(noImages)
  if (spec.layer !== undefined) throw new SandboxEnded('nothing can be laid over this machine')
  const folder = mkdtempSync(join(dirname(spec.workspace), scratchPrefix))
  const [state, spill] = [join(folder, 'state'), join(folder, 'spill')]
  for (const each of [state, spill]) mkdirSync(each, { mode: 0o700 })
  linkMounts(folder, spec)
  const bridge = spec.egress && (await loopbackBridge(spec.egress.socket))
  const child = spawnDaemon()
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  if (child.pid) writeRecord(spec.workspace, child.pid)
  const sandbox = await remoteSandbox({
    id: spec.id,
    stream: { input: child.stdin, output: child.stdout },
    paths: { bash: '/bin/bash', ripgrep: rgPath, state, spill, workspace: spec.workspace },
    env: {
      PATH: [...(spec.path ?? []), dirname(process.execPath), usualPath].join(':'),
      HOME: folder,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      ...spec.env,
      ...(bridge && spec.egress && egressVariables(bridge.url, spec.egress.certificates)),
    },
    spillMax: spec.limits.scratch,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), endWithinMs)
      await gone
      clearTimeout(timer)
      bridge?.close()
      forgetRecord(spec.workspace, child.pid)
      rmSync(folder, { recursive: true, force: true })
    },
  })
  return onHost(sandbox, spec)
}

function spawnDaemon() {
  try {
    return expectStarted(spawn(daemonBinary(), [], { env: {}, stdio: ['pipe', 'pipe', 'ignore'] }))
  } catch (error) {
    throw new SandboxEnded(`the sandbox did not start: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

const home = '/home/user/'

/** Links the mounts below a real sandbox's home into the commands' home. */
function linkMounts(folder: string, { mounts }: SandboxSpec): void {
  for (const { path, source } of mounts) {
    if (!path.startsWith(home)) continue
    const link = join(folder, path.slice(home.length))
    mkdirSync(dirname(link), { recursive: true, mode: 0o700 })
    symlinkSync(source, link)
  }
}

const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`)

/** Translates sandbox paths in file calls. Commands see the host's paths. */
function onHost(sandbox: Sandbox, { workspace, outputs, outputsAt, mounts }: SandboxSpec): Sandbox {
  const folderPairs = [
    ['/workspace', workspace],
    [outputsPath, outputsAt === undefined ? outputs : outputsAt.replace('/workspace', workspace)],
    ...mounts.map(({ path, source }) => [path, source] as const),
  ] as const
  const move = (path: string, from: 0 | 1) => {
    const mount = folderPairs.find((pair) => isIn(path, pair[from]))
    return mount ? mount[from === 0 ? 1 : 0] + path.slice(mount[from].length) : path
  }
  const readOnly = (path: string): FileFailure | undefined => {
    const found = mounts.find((mount) => mount.access === 'read' && isIn(path, mount.path))
    return found && { ok: false, code: 'denied', message: `${found.path} is read-only` }
  }
  return {
    ...sandbox,
    async shell(command) {
      const result = await sandbox.shell(command)
      return result.spilled ? { ...result, spilled: move(result.spilled, 1) } : result
    },
    read: (path, range) => sandbox.read(move(path, 0), range),
    write: async (path, bytes) => readOnly(path) ?? sandbox.write(move(path, 0), bytes),
    remove: async (path, top) => readOnly(path) ?? sandbox.remove(move(path, 0), move(top, 0)),
    async walk(root, maxEntries, isWhole) {
      const walk = await sandbox.walk(move(root, 0), maxEntries, isWhole)
      if (!walk.ok) return walk
      return { ...walk, files: walk.files.map((file) => ({ ...file, path: move(file.path, 1) })) }
    },
    search: (options) => sandbox.search({ ...options, path: move(options.path, 0) }),
  }
}
