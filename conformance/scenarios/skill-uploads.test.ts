import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Skill } from '@steward/protocol/skills.ts'
import type { TestService } from '../service.ts'
import { boot, scenarioDatabases } from '../service.ts'
import type { SentBody } from '../skills.ts'
import { oddZip, sendBody, skillForm, skillText } from '../skills.ts'
import { verifies } from '../verifies.ts'

for (const database of scenarioDatabases(import.meta.filename)) {
  describe(`uploads of skills on ${database}`, () => {
    let service: TestService
    let made = 0
    before(async () => {
      service = await boot(database)
    })
    after(() => service.close())
    const skills = () => service.client.skills
    /** Returns an unused name of a skill. */
    const named = () => `skill-${++made}`
    const post = (body: SentBody, path = '/v1/skills') => sendBody<Skill>(service, path, body)

    verifies(
      'skills/upload/refused',
      'an upload that is no skill is refused by name, and nothing of it stays',
      async () => {
        const before = (await skills().list({ limit: 100, source: 'custom' })).data.length
        const name = named()
        const good = { path: 'a/SKILL.md', content: skillText(name) }
        const head = (text: string) => skillForm([{ path: 'SKILL.md', content: text }])
        const cases: [SentBody, RegExp, number?][] = [
          [skillForm([]), /SKILL\.md|cannot be read/],
          [skillForm([good, { path: 'b/x', content: 'x' }]), /one folder/],
          [skillForm([good, { path: '../x', content: 'x' }]), /\.\./],
          [skillForm([good, { path: '/x', content: 'x' }]), /absolute/],
          [skillForm([good, { path: 'a\\x', content: 'x' }]), /backslash/],
          [skillForm([good, good]), /twice/],
          [skillForm([{ path: 'a/b/SKILL.md', content: skillText(name) }]), /no SKILL\.md/],
          [skillForm([good], { colour: 'red' }), /colour/],
          [skillForm([good], { display_title: 'x'.repeat(256) }), /display_title/],
          [head('# no head\n'), /head/],
          [head('---\nname: x\n---\n'), /description/],
          [head('---\ndescription: x\n---\n'), /name/],
          [head('---\nname: [a, b\n---\n'), /YAML/],
          [head('---\nname: &a [*a]\ndescription: x\n---\n'), /YAML|name/],
          [head(skillText('Upper')), /lower-case/],
          [head(skillText('x'.repeat(65))), /lower-case/],
          [head(skillText('a_b')), /lower-case/],
          [head(skillText('my-claude')), /reserved/],
          [head(skillText(name, '', 'x'.repeat(1025))), /1024/],
          [head(skillText(name, 'x'.repeat(256 * 1024))), /SKILL\.md: is at most 262144 bytes/],
          [
            skillForm([
              {
                path: 'SKILL.md',
                content: Buffer.concat([Buffer.from(skillText(name)), Buffer.from([0xff])]),
              },
            ]),
            /UTF-8/,
          ],
          [
            skillForm([
              good,
              ...[1, 2, 3, 4].map((i) => ({ path: `a/${i}`, content: Buffer.alloc(9 << 20) })),
            ]),
            /at most 33554432 bytes/,
            413,
          ],
          [
            skillForm([
              good,
              ...Array.from({ length: 1000 }, (_, i) => ({ path: `a/${i}`, content: '' })),
            ]),
            /at most 1000 files/,
          ],
          ['{"files": []}', /SKILL\.md|multipart/],
          ['not json', /JSON|multipart/],
        ]
        for (const [body, words, code = 400] of cases) {
          const answer = await post(body)
          assert.equal(answer.status, code, answer.text)
          assert.match(answer.text, words)
        }
        const zip = (content: Uint8Array) =>
          post(skillForm([{ path: 'a.zip', content }], {}, 'file'), '/v1/skills/upload')
        const skill = { name: 'a/SKILL.md', bytes: skillText(name) }
        for (const [entries, words] of [
          [[skill, { name: '../x', bytes: 'x' }], /relative|\.\./],
          [[skill, { name: '/x', bytes: 'x' }], /absolute/],
          [[skill, { name: 'a/link', bytes: '/etc/passwd', mode: 0o120777 }], /link/],
          [[skill, { name: 'b/x', bytes: 'x' }], /one folder/],
          [[skill, { name: 'a/bomb', bytes: Buffer.alloc(8 << 20) }], /would grow/],
        ] as const) {
          const answer = await zip(oddZip(entries))
          assert.equal(answer.status, 400)
          assert.match(answer.text, words)
        }
        assert.match((await zip(Buffer.from('no archive'))).text, /no zip archive/)
        const exact = await post(
          skillForm([
            good,
            ...Array.from({ length: 999 }, (_, i) => ({ path: `a/${i}`, content: '' })),
          ]),
        )
        assert.equal(exact.status, 200, exact.text)
        await skills().delete(exact.body.id)
        assert.equal((await skills().list({ limit: 100, source: 'custom' })).data.length, before)
        const loose = service.tenantDatabase.read.selectFrom('loose_blobs').selectAll()
        assert.deepEqual(await loose.execute(), [])
      },
    )

    it('forms that are cut or scrambled are refused, and the server goes on', async () => {
      const edge = 'edge'
      const part = (name: string, filename: string, text: string) =>
        `--${edge}\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\n${text}\r\n`
      const whole = `${part('files[]', 'a/SKILL.md', skillText('fuzzed'))}${part('files[]', 'a/x', 'y')}--${edge}--\r\n`
      for (let round = 0; round < 120; round++) {
        const at = (round * 37) % whole.length
        const body =
          round % 3 === 0
            ? whole.slice(0, at)
            : whole.slice(0, at) + String.fromCharCode((round * 61) % 256) + whole.slice(at + 3)
        const headers = { 'content-type': `multipart/form-data; boundary=${edge}` }
        const answer = await sendBody(service, '/v1/skills', Buffer.from(body, 'latin1'), headers)
        assert.ok([200, 400].includes(answer.status), `${answer.status}: ${answer.text}`)
      }
      assert.ok(!service.logged.some((line) => line.includes('a request failed')))
    })
  })
}
