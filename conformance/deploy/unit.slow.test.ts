/** The systemd unit: as the docs show it, as `install-service` writes it, and with sandboxes under its rules. */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { serverProgram } from '@steward/server/ground/config/settings.ts'
import { listSettings } from '@steward/base/settings/setting.ts'
import { asNobody } from '@steward/sandbox/ordinary-fixture.ts'
import { settingsText, unitText } from '@steward/server/start/commands/install-service/unit.ts'
import { runServer } from '../process.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/production.md'), 'utf8')
const analyze = '/usr/bin/systemd-analyze'
const systemd = existsSync(analyze)
  ? /^systemd (\d+)/.exec(execFileSync(analyze, ['--version'], { encoding: 'utf8' }))?.[1]
  : undefined

const ofClone = {
  start: '/opt/steward/node_modules/.bin/node --max-semi-space-size=8 packages/server/src/main.ts',
  workingFolder: '/opt/steward',
}

describe('the unit of a server', () => {
  let folder: string
  let unit: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'steward-unit-'))
    unit = join(folder, 'etc/systemd/system/steward.service')
    const { code, stderr } = await install('--url', 'https://steward.example.com')
    assert.equal(code, 0, stderr)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))
  const install = (...words: string[]) =>
    runServer(['install-service', '--root', folder, ...words], {})

  it('is the one that docs/production.md shows', () => {
    const shown = /^`\/etc\/systemd\/system\/steward\.service`:\n\n```ini\n([^]*?)^```$/m.exec(page)
    assert.equal(shown?.[1], unitText(ofClone))
  })

  it('has settings that the server knows, as docs/production.md has them', () => {
    const names = settingsText('https://a.example').match(/^[A-Z_]+(?==)/gm) ?? []
    const known = listSettings(serverProgram.settings).map(({ name }) => name)
    const shown = /^\(umask 077 && cat [^]*?^END$/m.exec(page)?.[0].match(/^[A-Z_]+(?==)/gm)
    assert.deepEqual(names, shown)
    for (const name of names) assert.ok([...known, 'NODE_COMPILE_CACHE'].includes(name), name)
  })

  it('is written with new secrets, which nobody else reads, and is not written again', async () => {
    const settings = join(folder, 'etc/steward/steward.env')
    const before = readFileSync(settings, 'utf8')
    assert.match(before, /^PLATFORM_ROOT_SECRET=[0-9a-f]{64}\nAPI_KEY=stw_key_[0-9a-f]{64}$/m)
    assert.equal(statSync(settings).mode & 0o777, 0o600)
    const { code, stdout } = await install()
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /^(wrote|made|replaced)/m)
    assert.match(stdout, /^unchanged .*steward\.service$/m)
    assert.equal(readFileSync(settings, 'utf8'), before)
    assert.ok(!stdout.includes(before.slice(21, 85)))
  })

  it('stays as the operator has changed it, until --force', async () => {
    const made = readFileSync(unit, 'utf8')
    appendFileSync(unit, '# my own line\n')
    const { code, stderr } = await install()
    assert.equal(code, 1)
    assert.match(
      stderr,
      /steward\.service is another one .*, and stays\.[^]*systemctl edit steward/,
    )
    assert.match(readFileSync(unit, 'utf8'), /my own line/)
    assert.equal((await install('--force')).code, 0)
    assert.equal(readFileSync(unit, 'utf8'), made)
  })

  it('is only shown by --print, with the commands that make the account', async () => {
    const { code, stdout } = await runServer(
      ['install-service', '--print', '--url', 'https://a.example'],
      {},
    )
    assert.equal(code, 0)
    assert.match(stdout, /^would (write|keep as it is) \/etc\/steward\/steward\.env/m)
    assert.match(stdout, /^\[Service\]\nUser=steward$/m)
    assert.doesNotMatch(stdout, /ROOT_SECRET/)
  })

  it('needs an address for new settings, and root', async () => {
    const other = join(folder, 'other')
    const refusal = async (...words: string[]) =>
      (await runServer(['install-service', ...words], {})).stderr
    assert.match(await refusal('--root', other), /install-service needs --url/)
    assert.match(await refusal('--root', other, '--url', 'a.example'), /--url must be an address/)
    const ordinary = ['/mnt/1', '/mnt/0/packages/server/src/main.ts', 'install-service']
    const { code, errors } = await asNobody(ordinary)
    assert.equal(code, 1)
    assert.match(errors, /root alone may: sudo npm start -- install-service; or say --print/)
  })

  const noSystemd = systemd === undefined && 'systemd-analyze is not here'
  it('is one that systemd accepts', { skip: noSystemd }, async () => {
    const { stderr } = await run(analyze, ['verify', unit])
    assert.equal(stderr, '')
  })

  const otherSystemd = systemd !== '252' && 'the figure is that of systemd 252'
  it('is rated as docs/production.md says', { skip: otherSystemd }, async () => {
    const rate = async (text: string) => {
      const file = join(folder, 'rated.service')
      writeFileSync(file, text)
      const { stdout } = await run(analyze, ['security', '--offline=true', '--no-pager', file])
      return /exposure level for .*: ([\d.]+)/.exec(stdout)?.[1]
    }
    const rules = /^(ProtectSystem|ReadWritePaths|ProtectHome|PrivateTmp|DevicePolicy|Cap.*)=.*\n/gm
    const text = readFileSync(unit, 'utf8')
    const figures = [await rate(text), await rate(text.replace(rules, ''))]
    const [, hardened, bare] =
      /rates this unit ([\d.]+) \(systemd 252; ([\d.]+) without/.exec(page) ?? []
    assert.deepEqual(figures, [hardened, bare])
  })
})

/** Where a staged process finds the checkout, whose own folders may be hidden. */
const staged = '/mnt'
const stage = (path: string): string =>
  path.startsWith(`${root}/`) ? staged + path.slice(root.length) : path

/** Runs a script where /etc is a copy, /srv and /run are empty, and `systemctl` prints its words. */
function onStagedMachine(folder: string, script: string) {
  const lines = [
    'set -e',
    `mount --bind ${root} ${staged}`,
    `cp -a /etc ${folder}/etc`,
    `mount --bind ${folder}/etc /etc`,
    'mount -t tmpfs tmpfs /srv',
    'mount -t tmpfs tmpfs /run',
    'mkdir -p /run/systemd/system /run/bin',
    `printf '#!/bin/sh\\necho systemctl "$@"\\n' >/run/bin/systemctl`,
    'chmod +x /run/bin/systemctl',
    `cd ${staged}`,
    script,
  ]
  const env = { PATH: '/run/bin:/usr/sbin:/usr/bin:/sbin:/bin' }
  return run('/usr/bin/unshare', ['--mount', 'sh', '-c', lines.join('\n')], { env, cwd: root })
}

describe(
  'a machine with systemd',
  {
    skip: process.getuid?.() !== 0 && 'only root can stage a machine',
  },
  () => {
    it('has account, folders, settings and unit after one command, and the same after two', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'steward-machine-'))
      const command = `${stage(process.execPath)} packages/server/src/main.ts install-service`
      const script = `${command} --url https://a.example; echo; echo again; ${command}; ls -ld /srv/steward`
      const { stdout } = await onStagedMachine(folder, script)
      const [first = '', again = ''] = stdout.split('\nagain\n')
      assert.match(first, /^made the account steward with the folder \/srv\/steward$/m)
      assert.match(first, /^systemctl daemon-reload$/m)
      assert.doesNotMatch(again, /^(made|wrote|replaced|systemctl daemon)/m)
      assert.match(again, /^drwx\S+ \d+ steward steward .* \/srv\/steward$/m)
      for (const file of ['subuid', 'subgid'])
        assert.match(readFileSync(join(folder, 'etc', file), 'utf8'), /^steward:1000000:65536$/m)
      rmSync(folder, { recursive: true })
    })
  },
)

/** The rules of the unit that a process can be given without systemd, as words before a command of `nobody`. */
function rulesOf(text: string, data: string): string[] {
  const capabilities = /^CapabilityBoundingSet=(.*)$/m.exec(text)?.[1]?.trim() ?? ''
  const bounding = capabilities.toLowerCase().replaceAll(/(?:^| )cap_/g, ',+')
  const ids = join(data, 'ids')
  writeFileSync(ids, 'nobody:1000000:65536\n')
  const mounts = [
    `mount --bind ${ids} /etc/subuid`,
    `mount --bind ${ids} /etc/subgid`,
    `mount --bind ${data} ${data}`,
    `mount --bind ${root} ${staged}`,
    'mount -o remount,bind,ro /',
    'mount -t tmpfs -o mode=0,ro tmpfs /home',
    'mount -t tmpfs -o mode=0,ro tmpfs /root',
    'mount -t tmpfs -o mode=1777 tmpfs /tmp',
  ].join(' && ')
  const account = ['--reuid', 'nobody', '--regid', 'nogroup', '--clear-groups']
  return [
    ...['--mount', 'sh', '-c', `${mounts} && exec "$@"`, 'sh'],
    ...['/usr/bin/setpriv', ...account, '--bounding-set', `-all${bounding}`],
  ]
}

describe(
  'a sandbox under the rules of the unit',
  {
    skip: process.getuid?.() !== 0 && 'only root can set these rules',
  },
  () => {
    let data: string
    before(() => {
      data = mkdtempSync('/var/tmp/steward-rules-')
      execFileSync('chown', ['nobody', data])
    })
    after(() => rmSync(data, { recursive: true, force: true }))

    const examine = async (text: string) => {
      const settings = {
        PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
        PLATFORM_ROOT_SECRET: '0123456789abcdef',
        ...{ DATA_DIR: data, SANDBOX_USERS: 'required', CHECKPOINTS: 'stop' },
      }
      const program = [process.execPath, join(root, 'packages/server/src/main.ts'), 'doctor'].map(
        stage,
      )
      return run('/usr/bin/unshare', [...rulesOf(text, data), ...program], { env: settings })
    }

    it('starts, and has a user of its own', async () => {
      const { stdout } = await examine(unitText(ofClone))
      assert.match(stdout, /^✓ sandboxes: one of bubblewrap starts \(.*users own\)$/m)
      assert.match(stdout, new RegExp(`^✓ disk: ${data} \\(DATA_DIR\\)`, 'm'))
    })

    it('needs each of the capabilities of the unit', async () => {
      for (const name of ['CAP_SETUID', 'CAP_SETGID', 'CAP_DAC_OVERRIDE', 'CAP_SYS_ADMIN']) {
        const text = unitText(ofClone).replace(new RegExp(`(?<=BoundingSet=.*)${name} ?`), '')
        await assert.rejects(examine(text), { stdout: /SANDBOX_USERS=required, but/ }, name)
      }
    })
  },
)
