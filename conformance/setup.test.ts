/** What ./try and ./test install, by a stub of npm that notes how it is called. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const script = join(import.meta.dirname, '../scripts/setup.sh')

/** Keeps the flags that choose packages. FAIL: the flag with which it fails. STOP: it ends before its list is written. */
const npm = `#!/bin/sh
echo "$*" | sed 's/ --no-audit.*//' >>calls
case "$*" in *"\${FAIL:-nothing}"*) exit 1 ;; esac
[ "$1" != ci ] || rm -rf node_modules
[ -z "\${STOP:-}" ] || exit 1
mkdir -p node_modules
{
  echo '"node_modules/hono"'
  case "$*" in *--omit=dev*) ;; *) echo '"node_modules/vite"' ;; esac
  case "$*" in *--omit=dev* | *--workspaces*) ;; *) echo '"node_modules/oxlint"' ;; esac
} >node_modules/.package-lock.json
`

const [server, console, tests] = [
  '--omit=dev',
  '--workspaces --include-workspace-root=false',
  '',
].map((which) => `${which} --prefer-offline`.trim())

describe('the setup of a clone', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-setup-'))
    await mkdir(join(folder, 'bin'))
    await writeFile(join(folder, 'bin/npm'), npm)
    await chmod(join(folder, 'bin/npm'), 0o755)
    await changeLock(-60)
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** Writes the lock file, as changed so many seconds after now. */
  async function changeLock(seconds: number): Promise<void> {
    const path = join(folder, 'package-lock.json')
    await writeFile(path, '{}')
    const at = Date.now() / 1_000 + seconds
    await utimes(path, at, at)
  }

  /** The calls of npm, by which the packages of a level are installed. */
  async function install(level: string, variables: Record<string, string> = {}): Promise<string[]> {
    const PATH = `${join(folder, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`
    const calls = join(folder, 'calls')
    await rm(calls, { force: true })
    const env = { PATH, ...variables }
    await run('sh', ['-euc', `. ${script}; setup_node ${level}`], { cwd: folder, env }).catch(
      (error: unknown) => {
        if (variables['STOP'] === undefined) throw error
      },
    )
    const text = await readFile(calls, 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }

  it('installs for ./try what the server needs, and nothing again', async () => {
    assert.deepEqual(await install('server'), [`ci ${server}`])
    assert.deepEqual(await install('server'), [])
  })

  it('adds what the console and the tests need to what is there', async () => {
    await install('server')
    assert.deepEqual(await install('console'), [`install --no-save ${console}`])
    assert.deepEqual(await install('tests'), [`install --no-save ${tests}`])
    for (const level of ['server', 'console', 'tests']) assert.deepEqual(await install(level), [])
  })

  it('installs again after a change of the lock file, and takes no package away', async () => {
    await install('server')
    await changeLock(60)
    assert.deepEqual(await install('tests'), [`ci ${tests}`])
    await changeLock(60)
    assert.deepEqual(await install('server'), [`ci ${tests}`])
  })

  it('installs again what was interrupted', async () => {
    await install('server', { STOP: 'yes' })
    assert.deepEqual(await install('server'), [`ci ${server}`])
    await install('tests', { STOP: 'yes' })
    assert.deepEqual(await install('tests'), [`ci ${tests}`])
  })

  it('asks the registry where the cache of npm does not suffice', async () => {
    const calls = await install('server', { FAIL: '--prefer-offline' })
    assert.deepEqual(calls, [`ci ${server}`, 'ci --omit=dev'])
  })
})
