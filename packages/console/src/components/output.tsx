/** What a tool gave: head and tail, with colours of a terminal, as text alone. */
import Anser from 'anser'
import { useState } from 'react'
import { formatCount } from '../lib/format/numbers.ts'
import { partsOfOutput } from '../lib/format/output.ts'
import { words } from '../lib/words.ts'

const few = 8
const many = 1_000

/** Colours of a terminal by their meaning here: only what fails and what is good keeps one. */
const colours: Record<string, string> = {
  'ansi-red': 'text-failed',
  'ansi-bright-red': 'text-failed',
  'ansi-green': 'text-good',
  'ansi-bright-green': 'text-good',
  'ansi-yellow': 'text-waiting',
  'ansi-bright-yellow': 'text-waiting',
  'ansi-blue': 'text-running',
  'ansi-bright-blue': 'text-running',
}

const ansi = '\u001b'

export const Coloured = ({ text }: { text: string }) =>
  text.includes(ansi)
    ? Anser.ansiToJson(text, { use_classes: true, remove_empty: true }).map((part, at) => (
        <span key={at} className={colours[part.fg] ?? ''}>
          {part.content}
        </span>
      ))
    : text

export function Output({ text, isError = false }: { text: string; isError?: boolean }) {
  const [isWhole, setWhole] = useState(false)
  const { head, tail, between } = partsOfOutput(text, isWhole ? many : few)
  return (
    <div
      className={`overflow-x-auto bg-n2 px-3 py-2 font-mono text-small leading-[1.6] ${isError ? 'text-failed' : 'text-n10'}`}
      tabIndex={0}
      role="group"
      aria-label={words.session.result}
    >
      <pre className="font-mono">
        <Coloured text={head} />
      </pre>
      {between > 0 && (
        <>
          <div className="-mx-3 my-1.5 flex items-center gap-3 border-y border-dashed border-n6 bg-n1 px-3 py-1 font-sans text-n9">
            {words.session.linesBetween(formatCount(between))}
            {!isWhole && (
              <button
                type="button"
                onClick={() => setWhole(true)}
                className="ml-auto rounded-sm text-accent hover:underline"
              >
                {words.session.showMore}
              </button>
            )}
          </div>
          <pre className="font-mono">
            <Coloured text={tail} />
          </pre>
        </>
      )}
    </div>
  )
}
