import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { interleave } from '../bench/against.ts'
import { cases, programsOf } from '../bench/cases.ts'
import { readOptions } from '../bench/options.ts'
import { installCommand } from '../bench/required-programs.ts'
import type { Samples } from '../bench/samples.ts'
import { addSample, compareSamples, readResults, writeResults } from '../bench/samples.ts'

describe('the benchmark', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'steward-bench-'))
  })
  after(() => rm(folder, { recursive: true }))

  /** A checkout whose benchmark reports how it was called. */
  async function checkoutWith(name: string, program: string): Promise<string> {
    const checkout = join(folder, name)
    await mkdir(join(checkout, 'bench'), { recursive: true })
    await writeFile(join(checkout, 'bench/main.ts'), program)
    return checkout
  }
  const reporting = `const unit = [process.cwd(), ...process.argv.slice(2)].join(' ')
console.log(JSON.stringify({ database: 'sqlite', what: 'a case', value: 1, unit }))
`

  describe('before it starts', () => {
    it('asks for bubblewrap in every case with a server, and for what the case needs besides', () => {
      const programs = new Map(cases.map((each) => [each.name, programsOf(each)]))
      assert.deepEqual(programs.get('limits'), [])
      assert.deepEqual(programs.get('requests'), ['bwrap'])
      assert.deepEqual(programs.get('repositories'), ['bwrap', 'git', 'openssl'])
    })

    it('names the packages that are missing, and nothing where none is', () => {
      const only = (there: string) =>
        installCommand(['bwrap', 'cc', 'tar'], (name) => name === there)
      assert.equal(only('tar'), 'apt-get install bubblewrap gcc')
      assert.equal(
        installCommand(['bwrap'], () => true),
        undefined,
      )
    })

    it('refuses a command line that is wrong, with a sentence', async () => {
      const foreign = join(folder, 'foreign.json')
      await writeFile(foreign, '{"samples": 1}')
      const refused: [args: string[], because: RegExp][] = [
        [['--compare', join(folder, 'none.json')], /^there is no file /],
        [['--compare', foreign], /foreign\.json holds no figures that --out has written$/],
        [['--compare', foreign, '--against', folder], /^--compare and --against both name/],
        [['--against', folder], /is no checkout of Steward: it has no bench\/main\.ts$/],
        [['--only', 'nothing'], /^no case is called nothing$/],
        [['--rounds', 'many'], /^--rounds: /],
        [['--profile', 'start', '--only', 'start'], /^--profile names its cases itself/],
      ]
      for (const [args, message] of refused)
        assert.throws(() => readOptions(args), { name: 'Error', message })
    })

    it('takes another checkout by a path that is relative to the current folder', async () => {
      const checkout = await checkoutWith('other', reporting)
      const { against } = readOptions(['--against', relative(process.cwd(), checkout)])
      assert.equal(against, checkout)
    })
  })

  it('runs a case in two checkouts in turn, each from its own folder and with the same minutes', async () => {
    const pair = {
      old: { checkout: await checkoutWith('old', reporting), samples: new Map() as Samples },
      now: { checkout: await checkoutWith('new', reporting), samples: new Map() as Samples },
    }
    await interleave(pair, { name: 'soak' }, { database: 'sqlite', rounds: 2, minutes: 5 })
    for (const { checkout, samples } of Object.values(pair)) {
      const [sample] = samples.values()
      assert.equal(sample?.unit, `${checkout} --only soak --database sqlite --minutes 5`)
      assert.deepEqual(sample.values, [1, 1])
    }
  })

  it('fails where a checkout cannot run the case', async () => {
    const checkout = await checkoutWith('broken', 'process.exit(2)\n')
    const side = { checkout, samples: new Map() as Samples }
    await assert.rejects(
      interleave(
        { old: side, now: side },
        { name: 'pages' },
        { database: 'sqlite', rounds: 1, minutes: undefined },
      ),
      /pages on sqlite ended with 2 in /,
    )
  })

  it('keeps its figures in a file, and calls two of them apart whose spreads do not meet', () => {
    const samplesOf = (values: Record<string, number[]>): Samples => {
      const samples: Samples = new Map()
      for (const [what, all] of Object.entries(values))
        for (const value of all) addSample(samples, 'sqlite', { what, value, unit: 'ms' })
      return samples
    }
    const file = join(folder, 'before.json')
    writeResults(file, samplesOf({ faster: [10, 12], noisy: [10, 14], alone: [10] }))
    const table = compareSamples(
      readResults(file),
      samplesOf({ faster: [5, 6], noisy: [11, 20], alone: [1] }),
    )
    const row = (what: string) => table.split('\n').find((line) => line.includes(what)) ?? ''
    assert.match(
      row('faster'),
      /12\.0 ms \(10\.0–12\.0\) +6\.00 ms \(5\.00–6\.00\) +0\.50 × +apart$/,
    )
    assert.doesNotMatch(row('noisy'), /apart/)
    assert.doesNotMatch(row('alone'), /apart/)
  })
})
