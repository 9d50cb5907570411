/** Cases: reading, writing, listing and searching files, whatever the session has put in their place. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContractCases } from '../fixture.ts'
import { run, say } from '../fixture.ts'
import type { FileFailure, Sandbox } from '../sandbox.ts'

const read = async (sandbox: Sandbox, path: string, offset = 0, maxBytes = 1 << 20) => {
  const file = await sandbox.read(path, { offset, maxBytes })
  return file.ok ? { text: Buffer.from(file.bytes).toString(), size: file.size } : file.code
}
const code = async (call: Promise<{ ok: true } | FileFailure>) => {
  const result = await call
  return result.ok ? 'ok' : result.code
}

export const fileCases: ContractCases = {
  'returns the bytes that were written': async ({ open }) => {
    const sandbox = await open()
    for (const size of [0, 1, 65_536, 300_001]) {
      const bytes = randomBytes(size)
      assert.deepEqual(await sandbox.write('/workspace/a', bytes), { ok: true })
      const file = await sandbox.read('/workspace/a', { offset: 0, maxBytes: 1 << 20 })
      assert.ok(file.ok && file.size === size && bytes.equals(file.bytes))
    }
  },

  'shows what is mounted, and what the host adds to it later': async ({ open, folder }) => {
    const [source, path] = [join(folder, 'mounted'), '/home/user/some/place']
    mkdirSync(source, { mode: 0o755 })
    writeFileSync(join(source, 'early'), 'before the start')
    const sandbox = await open({ mounts: [{ source, path, access: 'read' }] })
    writeFileSync(join(source, 'late'), 'after it')
    assert.deepEqual(await read(sandbox, `${path}/early`), { text: 'before the start', size: 16 })
    assert.deepEqual(await read(sandbox, `${path}/late`), { text: 'after it', size: 8 })
  },

  'lets nothing be written where it mounts for reading': async ({ open, folder }) => {
    const [source, path] = [join(folder, 'read'), '/home/user/read']
    mkdirSync(source, { mode: 0o777 })
    writeFileSync(join(source, 'there'), '')
    const sandbox = await open({ mounts: [{ source, path, access: 'read' }] })
    assert.equal(await code(sandbox.write(`${path}/file`, Buffer.from('x'))), 'denied')
    assert.notEqual(await code(sandbox.remove(`${path}/there`, path)), 'ok')
    assert.deepEqual(readdirSync(source), ['there'])
  },

  'lets everything be changed where it mounts for writing': async ({ open, folder }) => {
    const [source, path] = [join(folder, 'write'), '/mnt/write']
    mkdirSync(join(source, 'below'), { recursive: true })
    writeFileSync(join(source, 'below/file'), 'from the host', { mode: 0o600 })
    const sandbox = await open({ mounts: [{ source, path, access: 'write' }] })
    assert.deepEqual(await read(sandbox, `${path}/below/file`), { text: 'from the host', size: 13 })
    assert.equal(await code(sandbox.write(`${path}/below/file`, Buffer.from('changed'))), 'ok')
    assert.equal(readFileSync(join(source, 'below/file'), 'utf8'), 'changed')
  },

  'leads the path of the outputs into the working folder where that is asked for': async ({
    open,
    folder,
  }) => {
    const [source, path] = [join(folder, 'uploads'), '/mnt/session/uploads']
    mkdirSync(source, { mode: 0o755 })
    writeFileSync(join(source, 'given'), 'by a person', { mode: 0o644 })
    const sandbox = await open({
      outputsAt: '/workspace/outputs',
      mounts: [{ source, path, access: 'read' }],
    })
    await run(sandbox, 'mkdir outputs; printf "by a command" >outputs/a')
    assert.equal(
      await code(sandbox.write('/mnt/session/outputs/b', Buffer.from('by a tool'))),
      'ok',
    )
    assert.deepEqual(await read(sandbox, '/mnt/session/outputs/a'), {
      text: 'by a command',
      size: 12,
    })
    assert.deepEqual(await read(sandbox, '/workspace/outputs/b'), { text: 'by a tool', size: 9 })
    assert.deepEqual(await read(sandbox, `${path}/given`), { text: 'by a person', size: 11 })
  },

  'reads a range, and no more than there is': async ({ open }) => {
    const sandbox = await open()
    await sandbox.write('/workspace/a', Buffer.from('0123456789'))
    assert.deepEqual(await read(sandbox, '/workspace/a', 3, 4), { text: '3456', size: 10 })
    assert.deepEqual(await read(sandbox, '/workspace/a', 8, 400), { text: '89', size: 10 })
    assert.deepEqual(await read(sandbox, '/workspace/a', 99, 4), { text: '', size: 10 })
    assert.deepEqual(await read(sandbox, '/workspace/a', 0, 0), { text: '', size: 10 })
  },

  'replaces a file in one step and keeps its mode': async ({ open }) => {
    const sandbox = await open()
    await run(sandbox, 'echo old >a; chmod 750 a; exec 3<a; ln a other')
    await sandbox.write('/workspace/a', Buffer.from('new\n'))
    assert.equal(await say(sandbox, 'cat a other; stat -c %a a; ls -A'), 'new\nold\n750\na\nother')
  },

  'makes the folders above a new file, for the session alone': async ({ open }) => {
    const sandbox = await open()
    assert.deepEqual(await sandbox.write('/workspace/x/y/z', Buffer.from('1')), { ok: true })
    assert.equal(await say(sandbox, 'cat x/y/z; stat -c " %a" x x/y x/y/z'), '1 700\n 700\n 644')
  },

  'says what is at the path instead of a file': async ({ open }) => {
    const sandbox = await open()
    await run(sandbox, 'mkdir d; echo 1 >f; mkfifo p; ln -s loop loop; ln -s none dangling')
    for (const [path, why] of [
      ['d', 'not_a_file'],
      ['p', 'not_a_file'],
      ['none', 'not_found'],
      ['dangling', 'not_found'],
      ['f/x', 'not_a_directory'],
      ['loop', 'io'],
    ]) {
      assert.equal(await read(sandbox, `/workspace/${path}`), why, path)
    }
    const bytes = Buffer.from('new')
    assert.equal(await code(sandbox.write('/workspace/d', bytes)), 'not_a_file')
    assert.equal(await code(sandbox.write('/workspace/p', bytes)), 'not_a_file')
    assert.equal(await code(sandbox.write('/workspace/f/x', bytes)), 'not_a_directory')
    assert.equal(await code(sandbox.write('/dev/full', bytes)), 'not_a_file')
    assert.equal(await code(sandbox.walk('/workspace/none', 9)), 'not_found')
    assert.equal(await code(sandbox.walk('/workspace/f', 9)), 'not_a_directory')
  },

  'writes through a link to a file, and keeps the link': async ({ open }) => {
    const sandbox = await open()
    await run(sandbox, 'mkdir d; echo old >d/real; ln -s d/real link')
    assert.deepEqual(await sandbox.write('/workspace/link', Buffer.from('new')), { ok: true })
    assert.equal(await say(sandbox, 'readlink link; cat d/real; ls -A d'), 'd/real\nnewreal')
  },

  'lists regular files with their facts, but not what others keep': async ({ open }) => {
    const sandbox = await open()
    await run(
      sandbox,
      `mkdir -p a/b .git/x a/node_modules/y .hidden; mkfifo pipe; ln -s .. a/up; ln -s a/b/two link
       printf 1 >one; printf 22 >a/b/two; chmod 700 a/b/two; touch .git/x/no a/node_modules/y/no
       printf 333 >.hidden/'thr ee'; touch -d @1000000000.5 one; touch $'line\\nbreak'`,
    )
    const walk = await sandbox.walk('/workspace', 1000)
    assert.ok(walk.ok && walk.complete)
    const facts = walk.files.map(({ path, size, mode }) => `${path} ${size} ${mode.toString(8)}`)
    assert.deepEqual(facts.toSorted(), [
      '/workspace/.hidden/thr ee 3 644',
      '/workspace/a/b/two 2 700',
      '/workspace/line\nbreak 0 644',
      '/workspace/one 1 644',
    ])
    const one = walk.files.find(({ path }) => path.endsWith('/one'))
    assert.equal(one?.mtimeMs, 1_000_000_000_500)
  },

  'lists what others keep too, when all is asked for': async ({ open }) => {
    const sandbox = await open()
    await run(sandbox, 'mkdir -p .git a/node_modules; touch .git/x a/node_modules/y')
    const walk = await sandbox.walk('/workspace', 100, true)
    assert.ok(walk.ok)
    const paths = walk.files.map(({ path }) => path).toSorted()
    assert.deepEqual(paths, ['/workspace/.git/x', '/workspace/a/node_modules/y'])
  },

  'reports each change, though size and time are made to look as before': async ({ open }) => {
    const sandbox = await open()
    const look = async () => {
      const walk = await sandbox.walk('/workspace', 10)
      assert.ok(walk.ok && walk.files[0])
      return { ...walk.files[0], startedUs: walk.startedUs }
    }
    let before = await run(sandbox, 'echo one >a; cp -p a like').then(look)
    for (const change of ['echo two >a', 'cp -p like a', 'mv like a']) {
      await run(sandbox, `${change}; touch -d @1000000000 a; rm -f like; cp -p a like`)
      const after = await look()
      assert.ok(after.changedUs >= before.startedUs, change)
      assert.notDeepEqual([after.changedUs, after.inode], [before.changedUs, before.inode], change)
      before = after
    }
  },

  'removes a file or a link, and the folders that become empty': async ({ open }) => {
    const sandbox = await open()
    await run(sandbox, 'mkdir -p a/b/c a/d; echo 1 >a/b/c/f; echo 2 >a/d/g; ln -s a/d/g link')
    const remove = (path: string) => code(sandbox.remove(`/workspace/${path}`, '/workspace'))
    assert.deepEqual([await remove('a/b/c/f'), await remove('link')], ['ok', 'ok'])
    assert.equal(await say(sandbox, 'find . | sort | tr "\n" " "'), '. ./a ./a/d ./a/d/g')
    assert.equal(await code(sandbox.remove('/workspace/a/d/g', '/workspace/a/d')), 'ok')
    assert.equal(await say(sandbox, 'find . | sort | tr "\n" " "'), '. ./a ./a/d')
    assert.deepEqual([await remove('a/d'), await remove('a/none')], ['not_a_file', 'not_found'])
  },

  'lists the same files in any order of making, and stops at its limit': async ({ open }) => {
    const names = Array.from({ length: 600 }, (_, i) => `d${i % 7}/f${i}`)
    const listed: string[][] = []
    for (const order of [names, names.toReversed()]) {
      const sandbox = await open()
      await run(sandbox, `mkdir d{0..6}; touch ${order.join(' ')}`)
      const walk = await sandbox.walk('/workspace/', 1000)
      assert.ok(walk.ok && walk.complete)
      listed.push(walk.files.map(({ path }) => path).toSorted())
      const part = await sandbox.walk('/workspace', 100)
      assert.ok(part.ok && !part.complete && part.files.length <= 100)
    }
    assert.deepEqual(listed[0], names.map((name) => `/workspace/${name}`).toSorted())
    assert.deepEqual(listed[1], listed[0])
  },

  'lists a tree deeper than a path may be long, as far as it goes': async ({ open }) => {
    const sandbox = await open()
    await run(
      sandbox,
      'for i in {1..60}; do mkdir "$(printf %0200d 1)"; cd "$_"; touch f; done; cd /',
    )
    const walk = await sandbox.walk('/workspace', 1000)
    assert.ok(walk.ok && !walk.complete && walk.files.length >= 18)
  },

  'finds lines by pattern': async ({ open }) => {
    const sandbox = await open()
    await run(sandbox, `mkdir .git; printf 'one\\ntwo -x\\n' >a; cp a .hidden; cp a .git/a`)
    const look = (pattern: string) =>
      sandbox.search({ pattern, path: '/workspace', timeoutMs: 10_000 })
    const found = await look('^t.o')
    assert.equal(found.exitCode, 0)
    const lines = found.output
      .trim()
      .split('\n')
      .map((line) => line.split('/').at(-1))
    assert.deepEqual(lines.map(String).toSorted(), ['.hidden:2:two -x', 'a:2:two -x'])
    assert.equal((await look('-x')).exitCode, 0)
    assert.equal((await look('three')).exitCode, 1)
    assert.equal((await look('(')).exitCode, 2)
    const aborted = await sandbox.search({
      ...{ pattern: 'one', path: '/workspace', timeoutMs: 10_000 },
      signal: AbortSignal.abort(),
    })
    assert.equal(aborted.ended, 'aborted')
  },

  'serves many calls at once': async ({ open }) => {
    const sandbox = await open()
    const bytes = randomBytes(100_000)
    const all = Array.from({ length: 200 }, async (_, i) => {
      assert.deepEqual(await sandbox.write(`/workspace/f${i}`, bytes), { ok: true })
      const file = await sandbox.read(`/workspace/f${i}`, { offset: 0, maxBytes: 1 << 20 })
      assert.ok(file.ok && bytes.equals(file.bytes))
    })
    await Promise.all([...all, run(sandbox, 'sleep 0.1')])
  },
}
