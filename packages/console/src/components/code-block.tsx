import { useState } from 'react'
import { partsOfOutput } from '../lib/format/output.ts'
import { words } from '../lib/words.ts'
import { CopyButton } from './copy-button.tsx'

const many = 2_000

/** Code with its language: to copy, to wrap. Very long code is cut in its middle, and copied whole. */
export function CodeBlock({ language, text }: { language: string; text: string }) {
  const [isWrapped, setWrapped] = useState(false)
  const { head, tail, between } = partsOfOutput(text, many)
  const plain = 'flex items-center gap-1.5 rounded-sm text-small text-n9 hover:text-n11'
  return (
    <div className="min-w-0 overflow-hidden rounded-panel border border-n4">
      <div className="flex h-[30px] items-center gap-1 pr-1 pl-3">
        <span className="flex-1 text-n9">{language}</span>
        <button
          type="button"
          aria-pressed={isWrapped}
          className={plain}
          onClick={() => setWrapped(!isWrapped)}
        >
          {words.wrap}
        </button>
        <CopyButton text={text} />
      </div>
      <pre
        tabIndex={0}
        aria-label={language}
        className={`max-h-[60vh] overflow-auto border-t border-n4 bg-n2 px-3 py-2 font-mono text-small leading-[1.6] outline-offset-[-2px] ${isWrapped ? 'whitespace-pre-wrap' : ''}`}
      >
        {between > 0 ? `${head}\n… ${words.session.linesBetween(String(between))}\n${tail}` : head}
      </pre>
    </div>
  )
}
