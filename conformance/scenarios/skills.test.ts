import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { toFile } from '@anthropic-ai/sdk'
import { extractSkillArchive } from '@anthropic-ai/sdk/tools/agent-toolset/node'
import { toFile as oldToFile } from '@anthropic-ai/sdk-oldest'
import type { Skill, SkillVersion } from '@steward/protocol/skills.ts'
import { readZip } from '@steward/server/resources/skills/zip.ts'
import type { TestService } from '../service.ts'
import { adminKey, boot, scenarioDatabases } from '../service.ts'
import type { SentBody } from '../skills.ts'
import { oddZip, sendBody, skillForm, skillText } from '../skills.ts'
import { verifies } from '../verifies.ts'

const builtins = ['docx', 'pdf', 'pptx', 'xlsx']

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`skills on ${database}`, () => {
    let service: TestService
    let made = 0
    before(async () => {
      service = await boot(database)
    })
    after(() => service.close())
    const skills = () => service.client.skills
    /** Returns an unused name of a skill. */
    const named = () => `skill-${++made}`
    const file = (path: string, content: string | Buffer) => toFile(Buffer.from(content), path)
    const create = async (name = named(), body?: string) =>
      skills().create({ files: [await file(`${name}/SKILL.md`, skillText(name, body))] })
    const post = (body: SentBody, path = '/v1/skills') => sendBody<Skill>(service, path, body)
    const json = (files: object[], more: object = {}) =>
      service.ask<Skill>('POST', '/v1/skills', { files, ...more })
    const versionOf = async (skill: string, version = 'latest') =>
      (await service.ask<SkillVersion>('GET', `/v1/skills/${skill}/versions/${version}`)).body
    const status = async (method: string, path: string) => (await service.ask(method, path)).status

    verifies(
      [
        'skills/create/multipart',
        'skills/get',
        'skills/list',
        'skills/delete',
        'skills/field/type',
        'skills/field/id',
        'skills/field/display-title',
        'skills/field/name',
        'skills/field/description',
        'skills/field/latest-version',
        'skills/field/times',
        'versions/skill',
      ],
      'a skill is uploaded, read, listed and deleted by the official client',
      async () => {
        const name = named()
        const skill = await skills().create({
          display_name: 'For people',
          files: [
            await file(`folder/SKILL.md`, skillText(name)),
            await file(`folder/deep/data.bin`, Buffer.from([0, 255, 13, 10])),
          ],
        })
        assert.equal(skill.type, 'skill')
        assert.match(skill.id, /^skill_/)
        assert.equal(skill.display_name, 'For people')
        const seen = (await service.ask<Skill>('GET', `/v1/skills/${skill.id}`)).body
        assert.equal(seen.display_title, 'For people')
        assert.deepEqual([seen.name, seen.description], [name, 'what it is for'])
        const digits = String(seen.latest_version)
        assert.match(digits, /^\d{16}$/)
        assert.ok(Math.abs(Number(digits) / 1000 - Date.now()) < 60_000, 'a time in microseconds')
        assert.equal(skill.latest_version_id, `skver_${digits}`)
        assert.equal(seen.created_at, seen.updated_at)
        assert.equal((await skills().retrieve(skill.id)).latest_version_id, `skver_${digits}`)
        const listed: string[] = []
        for await (const each of skills().list({ limit: 1 })) listed.push(each.id)
        assert.ok(listed.includes(skill.id))
        assert.equal(new Set(listed).size, listed.length)
        for (const id of builtins) assert.ok(listed.includes(id), id)
        const gone = await skills().delete(skill.id)
        assert.deepEqual([gone.id, gone.type], [skill.id, 'skill_deleted'])
        assert.equal(await status('GET', `/v1/skills/${skill.id}`), 404)
        assert.equal(await status('DELETE', `/v1/skills/${skill.id}`), 404)
        assert.equal(await status('GET', `/v1/skills/${skill.id}/versions/${digits}`), 404)
      },
    )

    verifies(
      [
        'skills/versions/create',
        'skills/versions/list',
        'skills/versions/get',
        'skills/versions/content',
        'skills/versions/delete',
        'skills/version/field/version',
        'skills/version/field/files',
      ],
      'versions are made, found by three spellings, unpacked by the official worker, and deleted',
      async () => {
        const { id } = await create('versioned', '# one\n')
        const first = await versionOf(id)
        const script = Buffer.from('#!/bin/sh\necho hi\n')
        const second = await skills().versions.create(id, {
          files: [
            await file('other/SKILL.md', skillText('versioned', '# two\n')),
            await file('other/run.sh', script),
          ],
        })
        assert.equal(second.type, 'skill_version')
        const latest = await versionOf(id)
        assert.equal(latest.id, second.id)
        assert.ok(BigInt(latest.version) > BigInt(first.version))
        assert.deepEqual(latest.files, [{ filename: 'SKILL.md' }, { filename: 'run.sh' }])
        assert.deepEqual([latest.directory, latest.skill_id], ['other', id])
        for (const which of [latest.version, latest.id, 'latest'])
          assert.equal((await skills().versions.retrieve(which, { skill_id: id })).id, latest.id)
        for (const wrong of ['1', 'skver_1', 'newest', '-1', '1e3', latest.version + '0'])
          assert.equal(await status('GET', `/v1/skills/${id}/versions/${wrong}`), 404, wrong)
        const listed: string[] = []
        for await (const each of skills().versions.list(id, { limit: 1 })) listed.push(each.id)
        assert.deepEqual(listed, [latest.id, first.id])

        const folder = await mkdtemp(join(tmpdir(), 'steward-skill-'))
        try {
          const answer = await service.client.beta.skills.versions.download(latest.id, {
            skill_id: id,
          })
          await extractSkillArchive(answer, folder)
          assert.deepEqual(await readFile(join(folder, 'run.sh')), script)
        } finally {
          await rm(folder, { recursive: true, force: true })
        }
        const content = await service.raw('GET', `/v1/skills/${id}/versions/latest/content`)
        const paths = (await readZip(Buffer.from(await content.arrayBuffer()))).map((f) => f.path)
        assert.deepEqual(paths, ['versioned/SKILL.md', 'versioned/run.sh'])
        assert.equal(content.headers.get('content-type'), 'application/zip')

        const gone = await skills().versions.delete('latest', { skill_id: id })
        assert.deepEqual([gone.id, gone.type], [latest.id, 'skill_version_deleted'])
        assert.equal((await versionOf(id)).id, first.id)
        const refused = await service.ask('DELETE', `/v1/skills/${id}/versions/${first.id}`)
        assert.equal(refused.status, 400, 'a skill keeps a version')
        assert.match(JSON.stringify(refused.body), /last of skill/)
        const third = await skills().versions.create(id, {
          files: [await file('SKILL.md', skillText('versioned'))],
        })
        assert.ok(third.id > latest.id, 'no number is given twice')
        const byNumber = await skills().versions.delete(first.version, { skill_id: id })
        assert.equal(byNumber.id, first.version)
        const left = (await service.ask<Skill>('GET', `/v1/skills/${id}`)).body
        assert.equal(left.latest_version_id, third.id)
      },
    )

    verifies(
      'skills/create/name-fixed',
      'an executable stays one, and a version of another name is refused',
      async () => {
        const archive = oddZip([
          { name: 'x/SKILL.md', bytes: skillText('runs') },
          { name: 'x/run', bytes: '#!/bin/sh\n', mode: 0o100755 },
        ])
        const { body } = await post(
          skillForm([{ path: 'x.zip', content: archive }], {}, 'file'),
          '/v1/skills/upload',
        )
        const answer = await service.client.beta.skills.versions.download('latest', {
          skill_id: body.id,
        })
        const folder = await mkdtemp(join(tmpdir(), 'steward-skill-'))
        try {
          await extractSkillArchive(answer, folder)
          assert.equal((await stat(join(folder, 'run'))).mode & 0o111, 0o111)
        } finally {
          await rm(folder, { recursive: true, force: true })
        }
        const files = [await file('SKILL.md', skillText('walks'))]
        await assert.rejects(skills().versions.create(body.id, { files }), /name: is runs in every/)
      },
    )

    verifies(
      ['skills/create/json', 'skills/create/zip'],
      'texts come as JSON and archives as zip, and both say the same as a form',
      async () => {
        const name = named()
        const content = skillText(name)
        const data = { filename: 'sub/data.txt', content: 'ünï' }
        const texts = await json([{ filename: 'SKILL.md', content }, data], { display_title: 'T' })
        assert.equal(texts.status, 200)
        assert.deepEqual([texts.body.name, texts.body.display_name], [name, 'T'])
        const archive = oddZip([
          { name: `${name}/SKILL.md`, bytes: content },
          { name: `${name}/sub/data.txt`, bytes: 'ünï' },
        ])
        for (const [path, field] of [
          ['/v1/skills/upload', 'file'],
          ['/v1/skills', 'files[]'],
          ['/v1/skills', 'archive'],
        ] as const) {
          const form = skillForm(
            [{ path: 'a.zip', content: archive }],
            { display_title: 'T' },
            field,
          )
          const { body, status: code, text } = await post(form, path)
          assert.equal(code, 200, text)
          assert.deepEqual((await versionOf(body.id)).files, (await versionOf(texts.body.id)).files)
        }
        const given = { description: 'from beside' }
        const bare = { filename: 'SKILL.md', content: `---\nname: ${name}\n---\n` }
        assert.equal((await json([bare], given)).body.description, 'from beside')
        assert.equal((await json([{ ...bare, content }], given)).body.description, 'what it is for')
      },
    )

    verifies('skills/create/id', 'an id is taken, adds a version, or is refused', async () => {
      const name = named()
      const upload = (id: string, text = skillText(name), more = {}) =>
        post(skillForm([{ path: 'SKILL.md', content: text }], { id, ...more }))
      const first = await upload('my.own-1', skillText(name), { display_title: 'One' })
      assert.deepEqual([first.status, first.body.id], [200, 'my.own-1'])
      const second = await upload('my.own-1', skillText(name, '# more\n', 'changed'))
      assert.equal(second.body.id, 'my.own-1')
      assert.equal(second.body.description, 'changed')
      assert.equal(second.body.display_title, 'One')
      assert.equal((await skills().versions.list('my.own-1')).data.length, 2)
      assert.equal((await upload('my.own-1', skillText(named()))).status, 400)
      for (const id of builtins) {
        const refused = await upload(id)
        assert.equal(refused.status, 400)
        assert.match(refused.text, /built in/)
      }
      for (const id of ['', '../x', 'a/b', 'a b', '.x', 'x'.repeat(129)])
        assert.equal((await upload(id)).status, 400, id)
      const { key } = await service.otherWorkspace('with the same id')
      const form = skillForm([{ path: 'SKILL.md', content: skillText(name) }], { id: 'my.own-1' })
      const theirs = await sendBody<Skill>(service, '/v1/skills', form, { 'x-api-key': key })
      assert.equal(theirs.status, 200)
      assert.equal((await skills().versions.list('my.own-1')).data.length, 2)
    })

    verifies(
      'skills/file',
      'one file of the latest version is downloaded by its name',
      async () => {
        const name = named()
        const files = [
          { filename: 'SKILL.md', content: skillText(name) },
          { filename: 'a b/ü.txt', content: 'text' },
        ]
        const { id } = (await json(files)).body
        const get = (filename: string) =>
          service.raw('GET', `/v1/skills/${id}/files/${encodeURIComponent(filename)}`)
        assert.equal(await (await get('SKILL.md')).text(), skillText(name))
        const deep = await get('a b/ü.txt')
        assert.equal(await deep.text(), 'text')
        assert.match(String(deep.headers.get('content-disposition')), /attachment.*%C3%BC\.txt/)
        for (const wrong of ['nothing', '../SKILL.md', 'a b', 'a b/', '..', 'a b/../SKILL.md'])
          assert.equal((await get(wrong)).status, 404, wrong)
        const builtin = await service.raw('GET', '/v1/skills/pdf/files/SKILL.md')
        assert.match(await builtin.text(), /^---\nname: pdf\n/)
      },
    )

    verifies(
      'skills/versions/file',
      'one file of any version is downloaded by its name, and those of other tenants are not',
      async () => {
        const name = named()
        const first = skillText(name, 'the first body')
        const { id } = (await json([{ filename: 'SKILL.md', content: first }])).body
        const files = [
          { filename: 'SKILL.md', content: skillText(name, 'the second body') },
          { filename: 'a b/ü.txt', content: 'text' },
        ]
        await service.ask('POST', `/v1/skills/${id}/versions`, { files })
        const [second, older] = (await skills().versions.list(id)).data
        const get = (version: string | undefined, filename: string, key = adminKey) => {
          const path = `/v1/skills/${id}/versions/${version}/files/${encodeURIComponent(filename)}`
          return service.raw('GET', path, undefined, { 'x-api-key': key })
        }
        assert.equal(await (await get(older?.id, 'SKILL.md')).text(), first)
        assert.match(await (await get(second?.id, 'SKILL.md')).text(), /the second body/)
        assert.equal(await (await get('latest', 'a b/ü.txt')).text(), 'text')
        assert.equal((await get(older?.id, 'a b/ü.txt')).status, 404)
        assert.equal((await get('1', 'SKILL.md')).status, 404)
        const { key } = await service.otherWorkspace('without this skill')
        assert.equal((await get(older?.id, 'SKILL.md', key)).status, 404)
      },
    )

    verifies(
      [
        'skills/builtin/four',
        'skills/builtin/no-upload',
        'skills/builtin/not-deletable',
        'errors/case/builtin-skill',
        'limits/builtin-skills',
        'skills/field/source',
        'dialects/skill-source',
      ],
      'four are there from the beginning, are distinguished by their source, and stay',
      async () => {
        const given = (await skills().list({ source: 'anthropic' })).data
        assert.deepEqual(given.map(({ id }) => id).toSorted(), builtins)
        const { id } = await create()
        for (const skill of given) {
          assert.deepEqual(skill.source, { type: 'anthropic' })
          const answer = await service.ask('DELETE', `/v1/skills/${skill.id}`)
          assert.equal(answer.status, 400)
          const version = await versionOf(skill.id)
          assert.equal(await status('DELETE', `/v1/skills/${skill.id}/versions/latest`), 400)
          assert.ok(version.files.length > 2)
          const files = [await file('SKILL.md', skillText(skill.id))]
          await assert.rejects(skills().versions.create(skill.id, { files }), /built in/)
          const content = await service.client.beta.skills.versions.download('latest', {
            skill_id: skill.id,
          })
          const unpacked = await readZip(Buffer.from(await content.arrayBuffer()))
          assert.ok(unpacked.every(({ path }) => path.startsWith(`${skill.id}/`)))
        }
        const custom = (await skills().list({ source: 'custom', limit: 100 })).data
        assert.ok(custom.some((each) => each.id === id))
        assert.ok(custom.every(({ source }) => source.type === 'custom'))
        const sourceOf = async (skill: string) =>
          (await service.ask<Skill>('GET', `/v1/skills/${skill}`)).body.source
        assert.deepEqual([await sourceOf('xlsx'), await sourceOf(id)], ['anthropic', 'custom'])
      },
    )

    verifies('dialects/skill-source', 'the oldest client has the older shape', async () => {
      const old = service.oldest.beta.skills
      const name = named()
      const files = [await oldToFile(Buffer.from(skillText(name)), `${name}/SKILL.md`)]
      const skill = await old.create({ display_title: 'Old', files })
      assert.equal(skill.display_title, 'Old')
      assert.match(String(skill.latest_version), /^\d+$/)
      const version = await old.versions.create(skill.id, { files })
      const read = await old.versions.retrieve(version.version, { skill_id: skill.id })
      assert.deepEqual([read.name, read.directory], [name, name])
      const ids: string[] = []
      for await (const each of old.versions.list(skill.id)) ids.push(each.version)
      assert.equal(ids.length, 2)
      await old.versions.delete(version.version, { skill_id: skill.id })
      assert.equal((await old.delete(skill.id)).type, 'skill_deleted')
    })

    verifies(
      'skills/tenants',
      'nothing of a skill is seen, changed or used by another tenant',
      async () => {
        const { id } = await create()
        const { key } = await service.otherWorkspace('curious')
        const theirs = { 'x-api-key': key }
        const at = (path: string, method = 'GET', body?: object) =>
          service.ask(method, `/v1/skills/${id}${path}`, body, theirs)
        for (const path of [
          '',
          '/versions',
          '/versions/latest',
          '/files/SKILL.md',
          '/versions/latest/content',
        ])
          assert.equal((await at(path)).status, 404, path)
        const files = [{ filename: 'SKILL.md', content: skillText('x') }]
        assert.equal((await at('/versions', 'POST', { files })).status, 404)
        assert.equal((await at('/versions/latest', 'DELETE')).status, 404)
        assert.equal((await at('', 'DELETE')).status, 404)
        const list = await service.ask('GET', '/v1/skills', undefined, theirs)
        assert.deepEqual(list.body.data.map((each) => each.id).toSorted(), builtins)
        assert.equal(await status('GET', `/v1/skills/${id}`), 200)
      },
    )

    it('uploads at the same time to one skill are versions each', async () => {
      const { id } = await create('crowded')
      const files = [await file('SKILL.md', skillText('crowded'))]
      const made = await Promise.all(
        Array.from({ length: 8 }, () => skills().versions.create(id, { files })),
      )
      assert.equal(new Set(made.map((each) => each.id)).size, 8)
      const { latest_version_id } = await skills().retrieve(id)
      assert.equal(
        latest_version_id,
        made
          .map((each) => each.id)
          .toSorted()
          .at(-1),
      )
    })
  })
}
