/** Things that a command inside can neither see, reach, change nor exhaust. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, it } from 'node:test'
import { runCases } from '../contract.ts'
import { bench, run, say, until } from '../fixture.ts'
import { memoryHog, isolationCases, sleepersIn } from '../isolation/contract.ts'
import { bubblewrapSandboxes } from './bubblewrap.ts'
import type { LimitGroup, Limiter } from './limits.ts'
import { findLimiter } from './limits.ts'

const provider = bubblewrapSandboxes()
const mebibyte = 1 << 20

const module = import.meta.resolve('./bubblewrap.ts')
const groups = { isolation: isolationCases }
runCases('sandboxes by bubblewrap', bubblewrapSandboxes, { module, skip: [], groups })

describe('a command in bubblewrap', () => {
  it('is an ordinary user with a home, a name, Node and ripgrep', async () => {
    await using setup = bench(provider)
    const sandbox = await setup.open({ env: { OWN: 'yes' } })
    const names = await say(sandbox, 'env | cut -d= -f1 | grep -v OLDPWD | LC_ALL=C sort | xargs')
    assert.equal(names, 'HOME LANG OWN PATH PWD SHLVL TERM USER _')
    const who = await say(sandbox, 'id -u; id -un; cd; pwd; echo ok >file; cat file')
    assert.equal(who, '1000\nuser\n/home/user\nok')
    const script = 'console.log(os.userInfo().username, os.tmpdir(), process.version)'
    assert.equal(await say(sandbox, `node -e '${script}'`), `user /tmp ${process.version}`)
    assert.match(await say(sandbox, 'rg --version'), /^ripgrep/)
    const powers = 'grep -E "^(Cap|NoNew)" /proc/self/status | cut -f2 | sort -u | xargs'
    assert.match(await say(sandbox, powers), /^0{16} 1$/)
  })

  it('sees of the host its programs alone', async () => {
    await using setup = bench(provider)
    const sandbox = await setup.open()
    const seen = (await say(sandbox, 'ls / | grep -Ev "^lib(32|64|x32)$" | xargs')).split(' ')
    const expected = 'bin dev etc home lib mnt opt proc run sbin tmp usr workspace'
    assert.deepEqual(seen, expected.split(' '))
    const folders = await say(sandbox, 'ls /home /mnt /opt | xargs')
    assert.equal(folders, '/home: user /mnt: session /opt: steward')
    assert.equal((await run(sandbox, 'cat /etc/shadow')).exitCode, 1)
    assert.ok(Number(await say(sandbox, 'ls /proc | grep -c "^[0-9]"')) < 8)
  })
})

describe('bubblewrap', () => {
  it('says what it isolates, after it has tried', async () => {
    const checked = await provider.check()
    assert.ok(checked.ok)
    const { level, network, limits } = checked.isolation
    assert.deepEqual([level, network], ['kernel', 'none'])
    assert.match(limits, /^(cgroup[12]|rlimit)$/)
  })

  it('removes its control groups', async () => {
    const joined: string[] = []
    const watched = bubblewrapSandboxes({
      findLimits() {
        const limiter = findLimiter()
        const watch = (made: LimitGroup) => (joined.push(...made.joins), made)
        return { kind: limiter.kind, group: (limits) => watch(limiter.group(limits)) }
      },
    })
    await using setup = bench(watched)
    const sandbox = await setup.open()
    await run(sandbox, 'true')
    await sandbox.close()
    await until('they are gone', () => !joined.some((file) => existsSync(dirname(file))))
  })

  it('limits processes, and the memory of each, where there are no control groups', async () => {
    const none: Limiter = { kind: 'rlimit', group: () => ({ joins: [], remove() {} }) }
    await using setup = bench(bubblewrapSandboxes({ findLimits: () => none }))
    const sandbox = await setup.open({ limits: { processes: 24, memory: 128 * mebibyte } })
    const count = await sleepersIn(sandbox)
    assert.ok(count > 0 && count <= 24, `${count} processes`)
    assert.notEqual((await run(sandbox, memoryHog)).exitCode, 0)
    assert.equal(await say(sandbox, 'node -p 1+1'), '2')
  })
})
