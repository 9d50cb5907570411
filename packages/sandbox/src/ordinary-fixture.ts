/** For tests that run as root: a server that is an ordinary user. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { daemonBinary } from './daemon/binary.ts'

const nobody = 65_534
/** Staged, because another user may not be able to enter the folders above. */
const root = join(import.meta.dirname, '../../..')

/** Path of a project file as such a process sees it. */
export const stageOptions = (path: string): string => join('/mnt/0', relative(root, path))

export const nodeMount = '/mnt/1'

/** Words before a command that runs in a mount namespace where the account `nobody` has subordinate ids. */
export function withSubordinateIds() {
  assert.ok(existsSync('/usr/bin/newuidmap'), 'newuidmap is missing: apt-get install uidmap')
  const folder = mkdtempSync(join(tmpdir(), 'steward-ids-'))
  const ids = join(folder, 'ids')
  writeFileSync(ids, 'nobody:1000000:65536\n')
  const shown = ['subuid', 'subgid'].map((name) => `mount --bind ${ids} /etc/${name}`).join(' && ')
  return {
    before: ['/usr/bin/unshare', '--mount', 'sh', '-c', `${shown} && exec "$@"`, 'sh'],
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

/** Runs a command as `nobody`, with an empty environment. */
export async function asNobody(command: readonly string[], before: readonly string[] = []) {
  const launch = ['launch', '--stage', root, '--stage', process.execPath, '--uid', String(nobody)]
  const [program = '', ...words] = [...before, daemonBinary(), ...launch, '--', ...command]
  const child = spawn(program, words, {
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    cwd: '/',
    timeout: 200_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code: code as number | null, output, errors }
}
