import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runConfigCommand } from './config-command.ts'
import type { GatheredSettings } from './sources.ts'
import { httpUrl, natsUrl, port, splitList, text } from './kinds.ts'
import { maskUrl } from './mask-url.ts'
import { readSettings } from './program.ts'
import type { ProcessVariables } from './setting.ts'
import { setting, settingsSection } from './setting.ts'

const program = {
  what: 'kettle',
  settings: settingsSection('Kettle', {
    key: setting('KETTLE_KEY', text, { secret: true, about: 'opens the `lid`' }),
    bus: setting('KETTLE_BUS', natsUrl, { secret: true, about: 'who is told' }),
    maker: setting('MAKER_URL', httpUrl, {
      hidden: true,
      defaultAbout: 'by `season`',
      about: 'who made it',
    }),
    port: setting('PORT', port, { default: '1', about: 'where it listens' }),
    cups: setting(
      'KETTLE_CUPS',
      { form: 'a list', parse: splitList, inFile: { type: 'list' } },
      { hidden: true, about: 'its cups' },
    ),
    title: setting('TITLE', text, { about: 'its title' }),
  }),
  prefixes: ['KETTLE_'],
}

const configured = {
  program,
  command: 'kettle config',
  schema: 'kettle.schema.json',
  problemsOf({ variables, ...sources }: GatheredSettings) {
    const read = readSettings(program, variables, sources)
    return read.ok ? [] : read.problems
  },
}

describe('the command config', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-config-'))
    await writeFile(join(folder, 'key'), 'hunter2\n')
    await writeFile(
      join(folder, 'kettle.yaml'),
      `kettle_key_file: ${join(folder, 'key')}\nport: 8080\nkettle_cups: [hunter2]\n`,
    )
  })
  after(() => rm(folder, { recursive: true }))

  const run = (
    verb: 'check' | 'show' | 'schema' | 'example',
    environment: ProcessVariables = {},
    isJson = false,
  ) => runConfigCommand(configured, { verb, isJson }, environment)
  const withFile = (environment: ProcessVariables = {}) => ({
    SETTINGS_FILE: join(folder, 'kettle.yaml'),
    ...environment,
  })

  it('checks all settings at once, and says where each problem is', async () => {
    const { problems } = await run(
      'check',
      withFile({ MAKER_URL: 'hunter2', KETTLE_KEI: '1', KETTLE_BUS_FILE: '/nowhere' }),
    )
    assert.deepEqual(problems, [
      'KETTLE_BUS_FILE: /nowhere cannot be read: it is not there',
      'KETTLE_KEI is not a setting of this kettle; --help lists them. Do you mean KETTLE_KEY?',
      'MAKER_URL: "…" is not an http or https URL',
    ])
    const sound = await run('check', withFile({ TITLE: 'a' }))
    assert.deepEqual(sound.problems, [])
    assert.match(sound.lines.join(), /1 by variables, 2 by .*kettle\.yaml, 1 by files of their own/)
  })

  it('shows each value and where it comes from, and no secret', async () => {
    const given = withFile({
      MAKER_URL: 'https://me:hunter2@maker.example/x',
      KETTLE_BUS: 'nats://hunter2@nats.example',
      TITLE: 'a\u001b[2Jb',
    })
    const { lines } = await run('show', given)
    assert.doesNotMatch(lines.join('\n'), /hunter2/)
    assert.ok(!lines.join('').includes('\u001b'))
    const columns = lines.map((line) => line.split(/ {2,}/))
    assert.deepEqual(columns, [
      ['KETTLE_KEY', '‹masked›', join(folder, 'key')],
      ['KETTLE_BUS', 'nats://‹masked›@nats.example', 'KETTLE_BUS'],
      ['MAKER_URL', 'https://me:‹masked›@maker.example/x', 'MAKER_URL'],
      ['PORT', '8080', `${join(folder, 'kettle.yaml')}:2`],
      ['KETTLE_CUPS', '‹masked›', `${join(folder, 'kettle.yaml')}:3`],
      ['TITLE', String.raw`"a\u001b[2Jb"`, 'TITLE'],
    ])
    const plain = (await run('show')).lines.map((line) => line.split(/ {2,}/))
    assert.deepEqual(plain.slice(0, 4), [
      ['KETTLE_KEY', '–', 'default'],
      ['KETTLE_BUS', '–', 'default'],
      ['MAKER_URL', 'by season', 'default'],
      ['PORT', '1', 'default'],
    ])
  })

  it('hides a text that its setting refuses, and says which value no file gives', async () => {
    const shown = await run('show', { MAKER_URL: 'hunter2', KETTLE_KEY_FILE: '/nowhere' }, true)
    const [key, , maker] = JSON.parse(shown.lines.join())
    assert.deepEqual(key, {
      name: 'KETTLE_KEY',
      key: 'kettle_key',
      value: null,
      masked: false,
      source: 'unreadable',
      location: null,
    })
    assert.deepEqual([maker.value, maker.masked, maker.source], ['‹masked›', true, 'variable'])
  })

  it('prints a schema and an example, which need no settings', async () => {
    const given = { SETTINGS_FILE: '/nowhere', KETTLE_KEY: 'hunter2' }
    const schema = JSON.parse((await run('schema', given)).lines.join())
    assert.equal(schema.additionalProperties, false)
    assert.deepEqual(Object.keys(schema.properties).slice(0, 3), [
      'kettle_key',
      'kettle_key_file',
      'kettle_bus',
    ])
    const example = (await run('example', given)).lines.join()
    assert.match(example, /^# yaml-language-server: \$schema=kettle\.schema\.json\n/)
    assert.match(example, /\n# opens the lid \(a text\)\n#kettle_key_file: \/etc\/steward/)
    assert.match(example, /\n# where it listens \(a port .*; default: 1\)\n#port: 1\n/)
  })
})

describe('a URL that is shown', () => {
  it('has no password, no token and no value of its query', () => {
    for (const [url, shown] of [
      ['https://a.example/b', 'https://a.example/b'],
      ['https://a.example', 'https://a.example'],
      [
        'postgres://u:p@db:5432/x?password=p&y',
        'postgres://u:‹masked›@db:5432/x?password=‹masked›&‹masked›',
      ],
      ['https://token@a.example/', 'https://‹masked›@a.example/'],
      ['https://:p@a.example/#p', 'https://:‹masked›@a.example/#‹masked›'],
      ['p', '‹masked›'],
    ] as const)
      assert.equal(maskUrl(url), shown)
  })
})
