import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { databases } from '../../ground/database/fixture.ts'
import { shapesOf } from '../../ground/database/shapes-fixture.ts'
import { start as made } from '../../resources/memory-stores/fixture.ts'
import { removeStore } from '../../resources/memory-stores/remove.ts'
import { memoryBench, tenant } from './fixture.ts'

const notes = '/mnt/memory/notes'

for (const [kind, open] of Object.entries(shapesOf(import.meta.filename))) {
  describe(`a memory store in a sandbox on ${kind}`, () => {
    it('is mounted as a whole, and changes by commands become versions of the session', async () => {
      await using setup = await memoryBench(open)
      const store = await setup.newStore()
      await store.create(made, { path: '/a/one', content: 'one' })
      await store.create(made, { path: '/.git/two', content: 'two' })
      const session = await setup.session(store)
      const running = await setup.start(session)
      assert.deepEqual(
        await running.call(`cd ${notes} && cat a/one .git/two; find . -type f | sort`),
        {
          output: 'onetwo./.git/two\n./a/one\n',
          told: '',
        },
      )
      const { told } = await running.call(
        'echo new >a/new; printf 1 >>a/one; mv .git/two moved; mkdir -p x/y; echo deep >x/y/z',
      )
      assert.equal(told, '')
      assert.deepEqual(await setup.held(store.id), {
        ...{ '/a/new': 'new\n', '/a/one': 'one1', '/moved': 'two', '/x/y/z': 'deep\n' },
      })
      const versions = await store.versions()
      const own = versions.filter(({ session_id }) => session_id === session)
      assert.deepEqual(own.map(({ operation, path }) => `${operation} ${path}`).toSorted(), [
        ...['created /a/new', 'created /moved', 'created /x/y/z', 'deleted /.git/two'],
        'modified /a/one',
      ])
      await running.call('rm -r a x; echo file >a')
      assert.deepEqual(await setup.held(store.id), { '/a': 'file\n', '/moved': 'two' })
    })

    it('notices changes even if size and time are forged', async () => {
      await using setup = await memoryBench(open)
      const store = await setup.newStore()
      await store.create(made, { path: '/a', content: 'one' })
      const running = await setup.start(await setup.session(store))
      await running.call(`cd ${notes}; cp -p a /tmp/old`)
      for (const command of [
        'printf two >a; touch -r /tmp/old a',
        'printf six >b; touch -r /tmp/old b; mv b a',
        'printf ten >a; cp -p a /tmp/new; touch -r /tmp/old /tmp/new; cp -p /tmp/new a',
      ]) {
        await running.call(command)
        const now = await running.shell('cat a')
        assert.deepEqual(await setup.held(store.id), { '/a': now }, command)
      }
      for (let round = 10; round < 60; round++) {
        await running.call(`printf ${round} >a`)
        assert.deepEqual(await setup.held(store.id), { '/a': String(round) })
      }
    })

    it('reports files that cannot be stored once, and stores all others', async () => {
      await using setup = await memoryBench(open)
      const store = await setup.newStore()
      await store.create(made, { path: '/big', content: 'small' })
      const running = await setup.start(await setup.session(store))
      const { told } = await running.call(
        `cd ${notes}; head -c 102401 /dev/zero | tr '\\0' x >big; head -c 102400 big >most
         printf '\\377' >bytes; printf 'a\\0b' >nul; touch $'bad\\377name' $'line\\nbreak'; echo x >secret; chmod 0 secret
         ln -s /etc/passwd link; mkfifo pipe; ln -s /etc dir; printf '\\357\\273\\277bom' >bom`,
      )
      const why = (name: string) => told.split('\n').find((line) => line.includes(`/${name}`)) ?? ''
      assert.match(why('big'), /larger than 102,400/)
      assert.match(why('bytes'), /not UTF-8 text/)
      assert.match(why('nul'), /NUL/)
      assert.match(why('bad'), /name is not UTF-8/)
      assert.match(why('line'), /control/)
      assert.match(why('secret'), /cannot be read/)
      const held = await setup.held(store.id)
      assert.deepEqual(Object.keys(held).toSorted(), ['/big', '/bom', '/most'])
      assert.deepEqual([held['/big'], held['/bom']], ['small', '\ufeffbom'])
      assert.equal((await running.call('echo more >most')).told, '')
      assert.equal((await running.call('echo small again >big; rm bytes nul')).told, '')
      assert.deepEqual(await setup.held(store.id), {
        ...{ '/big': 'small again\n', '/bom': '\ufeffbom', '/most': 'more\n' },
      })
    })

    it('shows what others changed before the next call, and says so', async () => {
      await using setup = await memoryBench(open)
      const store = await setup.newStore()
      const one = await store.create(made, { path: '/a/one', content: 'one' })
      const two = await store.create(made, { path: '/a/two', content: 'two' })
      const [writer, reader] = [
        await setup.start(await setup.session(store)),
        await setup.start(await setup.session({ id: store.id, access: 'read_only' })),
      ]
      const list = `cd ${notes}; for f in $(find . -type f | sort); do echo $f $(cat $f); done`
      await writer.call(list)
      await store.update(made, one.id, { content: 'changed' })
      await store.remove(made, two.id, undefined)
      await store.create(made, { path: '/b', content: 'new' })
      for (const running of [writer, reader]) {
        const { output, told } = await running.call(list)
        assert.equal(output, './a/one changed\n./b new\n')
        assert.match(told, /changed by others/)
        for (const path of ['a/one', 'a/two', 'b'])
          assert.match(told, new RegExp(`${notes}/${path}`))
        assert.equal((await running.call(list)).told, '')
      }
      await writer.call('cd /mnt/memory/notes; echo mine >>b')
      assert.match((await reader.call(list)).output, /b newmine/)
      assert.match(
        (await reader.call(`cd ${notes}; echo x >b; rm b; echo done`)).output,
        /Read-only/,
      )
    })

    it('loses no text of two that change one file: the later reads of the conflict, and finds both', async () => {
      await using setup = await memoryBench(open)
      const store = await setup.newStore()
      const { id } = await store.create(made, { path: '/a', content: 'old' })
      const running = await setup.start(await setup.session(store))
      await running.before()
      await running.shell(`cd ${notes}; echo mine >a; echo also mine >b`)
      await store.update(made, id, { content: 'theirs' })
      await store.create(made, { path: '/b/c', content: 'below' })
      const told = (await running.changed()).join('\n')
      assert.match(told, /conflict: \/mnt\/memory\/notes\/a was changed/)
      assert.match(told, /conflict: \/mnt\/memory\/notes\/b\/c was changed/)
      const asides = [...told.matchAll(/\/workspace\/\.steward\/conflicts\/\S+/g)].flat()
      assert.equal(asides.length, 2)
      assert.equal(await running.shell(`cat ${asides.join(' ')} | sort`), 'also mine\nmine\n')
      assert.equal(await running.shell('cat a b/c'), 'theirsbelow')
      assert.deepEqual(await setup.held(store.id), { '/a': 'theirs', '/b/c': 'below' })
      assert.equal((await running.call('echo last >a')).told, '')
      await running.before()
      await running.shell('rm a')
      await store.update(made, id, { content: 'again theirs' })
      assert.match(
        (await running.changed()).join('\n'),
        /before you deleted it, and is there again/,
      )
      assert.equal(await running.shell('cat a'), 'again theirs')
    })

    it('keeps beside it what another wrote since the agent last looked', async () => {
      await using setup = await memoryBench(open)
      const store = await setup.newStore()
      const { id } = await store.create(made, { path: '/a', content: 'old' })
      const running = await setup.start(await setup.session(store))
      await running.call(`cd ${notes}`)
      await store.update(made, id, { content: 'theirs' })
      const { told } = await running.call('echo mine >a')
      const [aside] = /\/workspace\/\.steward\/conflicts\/\S+/.exec(told) ?? []
      assert.match(told, /had been changed by another since your last command/)
      assert.equal(
        await running.shell(`cat a ${aside}; cat /workspace/.steward/.gitignore`),
        'mine\ntheirs*\n',
      )
      assert.deepEqual(await setup.held(store.id), { '/a': 'mine\n' })
      await store.update(made, id, { content: 'theirs again' })
      assert.doesNotMatch((await running.call('echo and mine >>a')).told, /conflict/)
      assert.deepEqual(await setup.held(store.id), { '/a': 'theirs againand mine\n' })
    })

    it('stores changes of background commands at the next call, at the end of the turn, or of the sandbox', async () => {
      await using setup = await memoryBench(open)
      const store = await setup.newStore()
      const running = await setup.start(await setup.session(store))
      const late = (name: string) =>
        running.call(
          `cd ${notes}; (while [ ! -e /tmp/${name} ]; do sleep 0.01; done; echo ${name} >${name}; touch /tmp/${name}.done) >/dev/null 2>&1 &`,
        )
      const release = (name: string) =>
        running.shell(`touch /tmp/${name}; while [ ! -e /tmp/${name}.done ]; do sleep 0.01; done`)
      for (const name of ['call', 'rest', 'end']) await late(name)
      await release('call')
      await running.call('true')
      assert.deepEqual(Object.keys(await setup.held(store.id)).toSorted(), ['/call'])
      await release('rest')
      await running.rested()
      assert.deepEqual(Object.keys(await setup.held(store.id)).toSorted(), ['/call', '/rest'])
      await release('end')
      await running.stop()
      assert.deepEqual(Object.keys(await setup.held(store.id)).toSorted(), [
        '/call',
        '/end',
        '/rest',
      ])
    })

    it('goes on without a store that was deleted, and says that nothing is kept', async () => {
      await using setup = await memoryBench(open)
      const [store, other] = [await setup.newStore(), await setup.newStore()]
      const session = await setup.session(store, other)
      const running = await setup.start(session)
      await removeStore(setup.database, { tenant, id: store.id, now: made })
      assert.match(
        (await running.call(`echo x >${notes}/a; echo y >${notes}-2/b`)).told,
        /was deleted/,
      )
      assert.equal((await running.call('true')).told, '')
      assert.deepEqual(await setup.held(other.id), { '/b': 'y\n' })
      await running.stop()
      const next = await setup.start(session)
      assert.match((await next.call('true')).told, /was deleted/)
    })
  })
}

describe('a memory store whose server died', () => {
  // verifies: memory-stores/crash
  it('gets the changes since then at the next start', async () => {
    await using setup = await memoryBench(databases.sqlite)
    const store = await setup.newStore()
    const { id } = await store.create(made, { path: '/theirs', content: 'old' })
    for (const path of ['/gone', '/kept']) await store.create(made, { path, content: 'x' })
    const session = await setup.session(store)
    const running = await setup.start(session)
    await running.before()
    await running.shell(`cd ${notes}; echo mine >theirs; rm gone; echo new >new; ln -s /etc dir`)
    await running.stop('died')
    await store.update(made, id, { content: 'changed' })
    const next = await setup.start(session, setup.newKind())
    assert.deepEqual(await setup.held(store.id), {
      ...{ '/kept': 'x', '/new': 'new\n', '/theirs': 'changed' },
    })
    const { output, told } = await next.call(
      `cd ${notes}; cat theirs; cat /workspace/.steward/conflicts/*/notes/theirs`,
    )
    assert.equal(output, 'changedmine\n')
    assert.match(told, /conflict: .*theirs was changed by another/)
  })

  it('is mounted again when the record of its files is missing', async () => {
    await using setup = await memoryBench(databases.sqlite)
    const store = await setup.newStore()
    await store.create(made, { path: '/a', content: 'whole' })
    const session = await setup.session(store)
    const running = await setup.start(session)
    await running.shell(`cd ${notes}; : >a; echo found >b`)
    await running.stop('died')
    const ledger = `${running.own}/memory/${store.id}/ledger`
    assert.ok(existsSync(ledger))
    writeFileSync(ledger, '{"writer":"x","boot":"another"}\n')
    const next = await setup.start(session, setup.newKind())
    assert.deepEqual(await setup.held(store.id), { '/a': 'whole' })
    const { output, told } = await next.call(
      `cd ${notes}; ls; cat a; cat /workspace/.steward/conflicts/*/notes/b`,
    )
    assert.equal(output, 'a\nwholefound\n')
    assert.match(told, /may not have been written whole/)
  })
})
