/** For tests: a harness that behaves well or badly, as its argument says. */
import { createInterface } from 'node:readline'
import { exitCodes, protocol } from './protocol.ts'

const [mode = 'good'] = process.argv.slice(2)
const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`)
const ready = (speaks = protocol) =>
  say({ type: 'ready', protocol: speaks, harness: { name: 'fixture', version: '0' } })

const modes: Record<string, () => void> = {
  good: () => ready(),
  variables() {
    ready()
    say({ type: 'event', name: 'variables', data: { ...process.env } })
    say({ type: 'something_new', x: 1 })
    say({ type: 'done', reason: 'rested' })
    process.exitCode = exitCodes.done
    process.stdin.destroy()
  },
  silent: () => {},
  otherVersion: () => ready('openma-harness-supervisor-v9'),
  garbage() {
    ready()
    process.stdout.write('not JSON\n')
  },
  endless() {
    ready()
    process.stdout.write('x'.repeat(3 << 20))
  },
  early: () => say({ type: 'done', reason: 'rested' }),
  refuses() {
    say({ type: 'failed', message: 'no such setting' })
    process.exit(exitCodes.refused)
  },
  told() {
    say({ type: 'failed', message: 'no such repository', is_told: true })
    process.exit(exitCodes.refused)
  },
  leased: () => ready(),
  unheard() {
    ready()
    setTimeout(() => process.exit(exitCodes.aborted), 50)
  },
  fails() {
    ready()
    say({ type: 'failed', message: 'the disk is full' })
    setTimeout(() => process.exit(exitCodes.failed), 50)
  },
  crashes() {
    ready()
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50)
  },
  deaf() {
    ready()
    setInterval(() => {}, 1000)
  },
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line) as { type: string; lease_ms?: number; for_ms?: number }
    const { type, lease_ms, for_ms } = message
    if (type === 'start') modes[mode]?.()
    if (mode === 'leased' && (type === 'start' || type === 'lease'))
      say({ type: 'event', name: type, data: { lease_ms, for_ms } })
    if (mode === 'deaf') return
    if (type === 'stop') {
      say({ type: 'done', reason: 'stopped' })
      process.exit(exitCodes.done)
    }
    if (type === 'abort') process.exit(exitCodes.aborted)
  })
  .on('close', () => {
    if (mode !== 'deaf' && process.exitCode === undefined) process.exit(exitCodes.aborted)
  })
