import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  choice,
  choices,
  decimal,
  flag,
  httpUrl,
  port,
  secondMs,
  text,
  wholeNumber,
} from './kinds.ts'
import { settingsHelp, readSettings, settingsTables } from './program.ts'
import type { ProcessVariables, SettingsValues } from './setting.ts'
import { listSettings, settingsSection, setting } from './setting.ts'

const program = {
  what: 'kettle',
  settings: {
    ...settingsSection('Water', {
      litres: setting('KETTLE_LITRES', decimal(0.5, 2), {
        default: '1.5',
        about: 'water to boil',
        more: 'Salt | sugar is not water',
      }),
      heat: {
        ms: setting('KETTLE_SECONDS', wholeNumber(1, 600, secondMs), {
          default: '60',
          about: 'time',
        }),
        isLoud: setting('KETTLE_LOUD', flag, { default: 'false', about: 'whether it `whistles`' }),
      },
    }),
    ...settingsSection('Maker', {
      url: setting('MAKER_URL', httpUrl, {
        hidden: true,
        required: 'it is called when the kettle breaks. Give its address',
        about: 'who made it',
      }),
      colour: setting('COLOUR', choice(['red', 'blue']), {
        defaultAbout: 'by `season`',
        about: 'colour of the lamp',
      }),
    }),
  },
  prefixes: ['KETTLE_'],
}
const maker = { MAKER_URL: 'https://maker.example' }

function values(environment: ProcessVariables): SettingsValues<typeof program.settings> {
  const read = readSettings(program, { ...maker, ...environment })
  assert.ok(read.ok, JSON.stringify(read))
  return read.values
}
function problems(environment: ProcessVariables): string[] {
  const read = readSettings(program, { ...maker, ...environment })
  return read.ok ? [] : read.problems
}

describe('a setting that is declared once', () => {
  it('has the type, the unit and the default of its declaration', () => {
    const read: {
      litres: number
      heat: { ms: number; isLoud: boolean }
      url: string
      colour: 'red' | 'blue' | undefined
    } = values({ KETTLE_LOUD: 'true', KETTLE_SECONDS: '' })
    const heat = { ms: 60_000, isLoud: true }
    assert.deepEqual(read, { litres: 1.5, heat, url: maker.MAKER_URL, colour: undefined })
  })

  it('hides the text of a kind that may hold a secret, whatever it says itself', () => {
    const url = setting('LEFT_URL', httpUrl, { about: 'where it leads' })
    const { hidden, shown } = url
    assert.equal(hidden, true)
    assert.equal(shown?.('https://me:hunter2@x.example/a'), 'https://me:‹masked›@x.example/a')
    assert.deepEqual(url.read({ LEFT_URL: 'ftp://me:hunter2@x' }), {
      ok: false,
      problem: 'LEFT_URL: "…" is not an http or https URL',
    })
  })

  it('is refused by name with all other problems at once, and shows no hidden text', () => {
    const wrong = { KETTLE_LITRES: '3', KETTLE_LOUD: 'yes', COLOUR: 'green' }
    assert.deepEqual(problems({ ...wrong, MAKER_URL: 'ftp://hunter2@x' }), [
      'KETTLE_LITRES: "3" is not a number from 0.5 to 2',
      'KETTLE_LOUD: "yes" is not true or false',
      'MAKER_URL: "…" is not an http or https URL',
      'COLOUR: "green" is not red or blue',
    ])
  })

  it('is asked for where the program needs it', () => {
    for (const given of [undefined, ''])
      assert.deepEqual(problems({ MAKER_URL: given }), [
        'MAKER_URL is missing: it is called when the kettle breaks. Give its address',
      ])
  })

  it('is the hint where an unknown name with a prefix of the program comes near', () => {
    const unknown = 'is not a setting of this kettle; --help lists them.'
    assert.deepEqual(problems({ KETTLE_LITERS: '1', KETTLE_OF_FISH_AND_CHIPS: '1', LITRES: '1' }), [
      `KETTLE_LITERS ${unknown} Do you mean KETTLE_LITRES?`,
      `KETTLE_OF_FISH_AND_CHIPS ${unknown}`,
    ])
    assert.deepEqual(problems({ KETTLE_EMPTY: '' }), [])
  })

  it('is listed in --help and docs, in its section', () => {
    const help = settingsHelp(program)
    assert.match(help, /^ {2}Water\n {4}KETTLE_LITRES {3}water to boil \(1\.5\)\n/)
    assert.match(help, /whether it whistles \(false\)\n\n {2}Maker\n/)
    assert.match(help, /who made it \(must be set\)\n.*\(by season\)$/)
    const [water, maker] = settingsTables(program)
      .split('\n\n**Maker**\n\n')
      .join('\n\n')
      .split('\n\n')
      .slice(1)
    assert.match(
      water ?? '',
      /\n\| `KETTLE_LITRES` \| 1\.5 \| a number from 0\.5 to 2 \| water to boil\. Salt \\\| sugar is not water \|\n/,
    )
    assert.match(maker ?? '', /\| `COLOUR` \| by `season` \| red or blue \| colour of the lamp \|$/)
    for (const { name } of listSettings(program.settings)) {
      assert.equal(help.split(`${name} `).length, 2, name)
    }
  })
})

describe('a kind of settings', () => {
  it('takes numbers within their bounds and of their form alone', () => {
    for (const given of ['', ' ', '-1', '1.5', '0x10', '1e3', '1_000', '8 ', 'NaN', '65536'])
      assert.equal(port.parse(given), undefined, given)
    assert.equal(port.parse('65535'), 65_535)
    for (const given of ['.5', '0.09', '1.', 'Infinity'])
      assert.equal(decimal(0.1, 9).parse(given), undefined, given)
    assert.equal(decimal(0.1, 9, secondMs).parse('0.5'), 500)
  })

  it('takes URLs of its protocols and words of its list', () => {
    assert.equal(httpUrl.parse('https://x/y'), 'https://x/y')
    assert.equal(httpUrl.parse('file:///etc'), undefined)
    assert.equal(text.parse('free text'), 'free text')
    const kinds = choices(['files', 'folders'])
    assert.deepEqual(kinds.parse(' folders,files,files'), ['files', 'folders'])
    assert.equal(kinds.parse('files,links'), undefined)
    assert.deepEqual(kinds.parse(''), [])
  })
})
