import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gatherSettings } from './gather.ts'
import { choices, flag, postgresUrl, splitList, text, wholeNumber } from './kinds.ts'
import { readSettings } from './program.ts'
import type { ProcessVariables } from './setting.ts'
import { setting, settingsSection } from './setting.ts'

const pairs = { form: 'a list of name=/folder', parse: splitList }

const program = {
  what: 'kettle',
  settings: settingsSection('Kettle', {
    key: setting('KETTLE_KEY', text, { secret: true, about: 'opens the lid' }),
    litres: setting('KETTLE_LITRES', wholeNumber(1, 9), { default: '1', about: 'water' }),
    isLoud: setting('KETTLE_LOUD', flag, { default: 'false', about: 'whether it whistles' }),
    colours: setting('KETTLE_COLOURS', choices(['red', 'blue']), { default: '', about: 'lamps' }),
    cups: setting(
      'KETTLE_CUPS',
      { ...pairs, inFile: { type: 'map', between: '=' } },
      { default: '', about: 'cups' },
    ),
    recipe: setting(
      'KETTLE_RECIPE',
      {
        form: 'JSON',
        parse: (given: string): unknown => JSON.parse(given),
        inFile: { type: 'json', schema: () => ({}) },
      },
      { about: 'what it boils' },
    ),
    store: setting('KETTLE_STORE', postgresUrl, { secret: true, about: 'where it writes' }),
    proxy: setting('KETTLE_PROXY', text, { aliases: ['kettle_proxy'], about: 'its proxy' }),
  }),
  prefixes: ['KETTLE_'],
}

describe('a settings file', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-settings-'))
  })
  after(() => rm(folder, { recursive: true }))

  async function file(content: string | Buffer, name = 'kettle.yaml'): Promise<string> {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }
  async function read(content: string, environment: ProcessVariables = {}) {
    const path = await file(content)
    const gathered = await gatherSettings(program, { SETTINGS_FILE: path, ...environment })
    return { path, gathered, result: readSettings(program, gathered.variables, gathered) }
  }
  async function values(content: string, environment: ProcessVariables = {}) {
    const { result } = await read(content, environment)
    assert.ok(result.ok, JSON.stringify(result))
    return result.values
  }
  /** The problems, each without the path of the file. */
  async function problems(content: string, environment: ProcessVariables = {}) {
    const { path, result } = await read(content, environment)
    return result.ok ? [] : result.problems.map((each) => each.replace(path, 'FILE'))
  }

  it('holds values, lists and maps by the names of the settings in lower case', async () => {
    const given = await values(
      [
        '# of the kitchen',
        'kettle_key: 007',
        'kettle_litres: 3',
        'kettle_loud: true',
        'kettle_colours: [blue, red]',
        'kettle_cups:',
        '  small: /cups/small',
        '  large: /cups/large',
        'kettle_recipe: { tea: [1, "2", true] }',
      ].join('\n'),
    )
    assert.deepEqual(given, {
      key: '007',
      litres: 3,
      isLoud: true,
      colours: ['red', 'blue'],
      cups: ['small=/cups/small', 'large=/cups/large'],
      recipe: { tea: [1, '2', true] },
      store: undefined,
      proxy: undefined,
    })
  })

  it('takes what the variable would hold as well', async () => {
    const given = await values(
      'kettle_litres: "3"\nkettle_colours: red,blue\nkettle_cups: [a=/a, b=/b]\nkettle_recipe: "[1]"\n',
    )
    assert.deepEqual([given.litres, given.cups, given.recipe], [3, ['a=/a', 'b=/b'], [1]])
    assert.deepEqual(given.colours, ['red', 'blue'])
  })

  it('may be empty, and so may its values', async () => {
    for (const content of ['', '# nothing\n', '---\n', '~', 'kettle_litres:\nkettle_loud: ""\n'])
      assert.equal((await values(content)).litres, 1)
  })

  it('gives way to a variable, and wins over the default', async () => {
    const content = 'kettle_litres: 3\nkettle_loud: true\n'
    const given = await values(content, { KETTLE_LITRES: '5', KETTLE_LOUD: '' })
    assert.deepEqual([given.litres, given.isLoud], [5, true])
    const { gathered } = await read(content, { KETTLE_LITRES: '5' })
    assert.deepEqual(gathered.origins.get('KETTLE_LITRES'), {
      kind: 'variable',
      location: 'KETTLE_LITRES',
    })
    assert.match(gathered.origins.get('KETTLE_LOUD')?.location ?? '', /kettle\.yaml:2$/)
  })

  it('is refused with the line of each problem', async () => {
    const content =
      'kettle_litres: 12\nkettle_liters: 2\nKETTLE_LOUD: true\nkettle_colours: {a: b}\nkettle_cups: ["a,b"]\nkettle_loud_file: x\nfish: 1\nkettle_key: [a]\n'
    assert.deepEqual(await problems(content), [
      'FILE:2: kettle_liters is not a setting; config schema lists them. Do you mean kettle_litres?',
      'FILE:3: KETTLE_LOUD is not a key: write kettle_loud',
      'FILE:4: kettle_colours: must be a list, and no map',
      'FILE:5: kettle_cups: a part of it has a comma: write each part by itself',
      'FILE:6: kettle_loud_file is not a key: kettle_loud is no secret, and stands here by itself',
      'FILE:7: fish is not a setting; config schema lists them.',
      'FILE:8: kettle_key: must be one value, and no list',
      'FILE:1: KETTLE_LITRES: "12" is not a whole number from 1 to 9',
    ])
  })

  it('is refused where it is no map of keys, with the line', async () => {
    assert.match((await problems('\n- a\n')).join(), /^FILE:2: .*keys and values.*no list$/)
    assert.match((await problems('hunter2')).join(), /^FILE:1: the file must hold keys/)
    assert.match((await problems('a: 1\n---\nb: 2\n')).join(), /^FILE:2: a second document/)
    assert.match((await problems('kettle_key: a\nkettle_key: b\n')).join(), /^FILE:2: .*twice/)
    assert.match((await problems('kettle_loud: true\n\tx: 1\n')).join(), /^FILE:2: a tab/)
    assert.match((await problems('? [a, b]\n: 1\n')).join(), /^FILE:1: this key is not a setting/)
  })

  it('takes no alias, and so nothing that grows when it is read', async () => {
    const bomb = 'a: &a [x, x]\nb: &b [*a, *a]\nkettle_colours: [*b, *b]\n'
    const refused = await problems(bomb)
    assert.equal(refused.length, 4)
    assert.match(refused[0] ?? '', /^FILE:2: an alias/)
    assert.match((await problems('kettle_key: *none\n')).join(), /^FILE:1: an alias/)
    assert.match((await problems('kettle_key: !!js/function x\n')).join(), /^FILE:1: a tag/)
    assert.deepEqual((await problems('['.repeat(20_000))).length > 0, true)
  })

  it('shows nothing of what it holds where it is refused', async () => {
    const secret = 'hunter2hunter2'
    for (const content of [
      `kettle_key: "${secret}`,
      `kettle_key ${secret}\nkettle_loud: true`,
      `kettle_key: [${secret}]`,
      `kettle_key: *${secret}`,
      `kettle_key: !${secret} x`,
      `kettle_key${secret}${'x'.repeat(64)}: 1`,
      `kettle_store: mysql://u:${secret}@db`,
      `kettle_store: ${secret}: ${secret}`,
    ]) {
      const refused = await problems(content)
      assert.ok(refused.length > 0, content)
      assert.doesNotMatch(refused.join(), /hunter2/, content)
    }
  })

  it('is refused where it cannot be read, and nothing else is asked for', async () => {
    for (const [path, why] of [
      [join(folder, 'none.yaml'), 'it is not there'],
      [folder, 'it is a folder'],
      [await file(Buffer.from([0xff, 0xfe, 0x00]), 'bytes'), 'it is no text in UTF-8'],
      [await file('#'.repeat(1_100_000), 'large'), 'it is larger than 1048576 bytes'],
    ] as const) {
      const gathered = await gatherSettings(program, { SETTINGS_FILE: path })
      const result = readSettings(program, gathered.variables, gathered)
      assert.deepEqual(result, { ok: false, problems: [`${path} cannot be read: ${why}`] })
    }
  })

  describe('of one secret', () => {
    it('is named by NAME_FILE, and ends with one line end or none', async () => {
      for (const [content, secret] of [
        ['a secret', 'a secret'],
        ['a secret\n', 'a secret'],
        ['a secret\r\n', 'a secret'],
        ['two\nlines\n\n', 'two\nlines\n'],
      ] as const) {
        const path = await file(content, 'secret')
        assert.equal((await values('', { KETTLE_KEY_FILE: path })).key, secret)
        assert.equal((await values(`kettle_key_file: ${path}\n`)).key, secret)
      }
    })

    it('is refused beside the secret itself', async () => {
      const path = await file('a secret', 'secret')
      assert.deepEqual(await problems('', { KETTLE_KEY: 'a', KETTLE_KEY_FILE: path }), [
        'KETTLE_KEY and KETTLE_KEY_FILE are both set: keep one of the two',
      ])
      assert.deepEqual(await problems(`kettle_key_file: ${path}\nkettle_key: a\n`), [
        'FILE:2: kettle_key: give the value by this key or by kettle_key_file, not by both',
      ])
    })

    it('is not read where a variable wins', async () => {
      const content = 'kettle_key_file: /nowhere\n'
      assert.equal((await values(content, { KETTLE_KEY: 'a' })).key, 'a')
      const path = await file('b', 'secret')
      assert.equal((await values('kettle_key: a\n', { KETTLE_KEY_FILE: path })).key, 'b')
    })

    it('is refused where it cannot be read, is empty or is large', async () => {
      const [empty, large] = [await file('\n', 'empty'), await file('x'.repeat(70_000), 'large')]
      assert.deepEqual(await problems('', { KETTLE_KEY_FILE: join(folder, 'none') }), [
        `KETTLE_KEY_FILE: ${join(folder, 'none')} cannot be read: it is not there`,
      ])
      assert.deepEqual(await problems(`\nkettle_key_file: ${empty}\n`), [
        `FILE:2: kettle_key_file: ${empty} is empty: write the secret into it`,
      ])
      for (const path of [large, '/dev/zero'])
        assert.deepEqual(await problems('', { KETTLE_KEY_FILE: path }), [
          `KETTLE_KEY_FILE: ${path} cannot be read: it is larger than 65536 bytes`,
        ])
      const url = await file('mysql://u:hunter2@db', 'url')
      assert.deepEqual(await problems('', { KETTLE_STORE_FILE: url }), [
        `${url}: KETTLE_STORE: "…" is not a postgres:// URL`,
      ])
    })
  })

  it('takes a variable in lower case where a setting has one, and the other first', async () => {
    assert.equal((await values('', { kettle_proxy: 'a' })).proxy, 'a')
    assert.equal((await values('', { kettle_proxy: 'a', KETTLE_PROXY: 'b' })).proxy, 'b')
  })
})
