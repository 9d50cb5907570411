/** What a running command has written so far: its newest lines stay in sight, and nothing above them moves. */
import { useEffect, useState } from 'react'
import { formatDuration } from '../lib/format/times.ts'
import { talkWords } from '../lib/session/talk-words.ts'
import { Coloured } from './output.tsx'

const stepMs = 1_000
/** A shorter silence is not worth a word. */
const silentMs = 10_000

/** `isLarge`: the card is open. Screen readers find it and are not read what comes. */
export function LiveOutput({ text, isLarge }: { text: string; isLarge: boolean }) {
  return (
    <div
      role="group"
      aria-label={talkWords.outputSoFar}
      aria-live="off"
      tabIndex={0}
      className={`flex flex-col-reverse overflow-auto overscroll-contain border-t border-n4 bg-n2 px-3 py-2 text-n10 outline-offset-[-2px] ${isLarge ? 'max-h-[50vh]' : 'max-h-[162.6px]'}`}
    >
      <pre className="font-mono text-small leading-[1.6] wrap-anywhere whitespace-pre-wrap">
        <Coloured text={text} />
      </pre>
    </div>
  )
}

function useSeconds(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), stepMs)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** How long a call runs, and how long its command is silent. It changes every second, and is not read aloud. */
export function Elapsed({ from, lastByteAt }: { from: number; lastByteAt: number | undefined }) {
  const now = useSeconds()
  const whole = (ms: number) => formatDuration(Math.max(stepMs, Math.floor(ms / stepMs) * stepMs))
  const silence = lastByteAt === undefined ? 0 : now - lastByteAt
  return (
    <span aria-hidden="true" className="flex shrink-0 gap-2.5 text-small text-n9 tabular-nums">
      {silence >= silentMs && (
        <span className="text-waiting">{talkWords.noOutputFor(whole(silence))}</span>
      )}
      {whole(now - from)}
    </span>
  )
}
