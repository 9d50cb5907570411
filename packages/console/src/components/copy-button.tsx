import { useState } from 'react'
import { copyText } from '../lib/clipboard.ts'
import { words } from '../lib/words.ts'
import { IconCheck, IconCopy } from './icons.tsx'

/** Copies a text, and says that it did. */
export function CopyButton({ text, label = words.copy }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = () =>
    void copyText(text).then(() => {
      setCopied(true)
      setTimeout(() => setCopied(false), 1_500)
    })
  return (
    <button
      type="button"
      onClick={copy}
      className="flex h-7 items-center gap-1.5 rounded-base px-2 text-small whitespace-nowrap text-n9 hover:bg-n3 hover:text-n11"
    >
      {isCopied ? <IconCheck className="text-good" /> : <IconCopy />}
      {isCopied ? words.copied : label}
    </button>
  )
}
