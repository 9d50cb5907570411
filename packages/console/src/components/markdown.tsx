/**
 * Markdown of agents, the safe part of it: no HTML, no image that is loaded unasked, and links that show where they
 * lead. Attack: what an agent writes becomes markup, or calls another server.
 */
import { memo } from 'react'
import Markdown from 'react-markdown'
import type { Components } from 'react-markdown'
import remarkGfm from 'remark-gfm'
import { blocksOf } from '../lib/format/blocks.ts'
import { safeLink } from '../lib/safe-link.ts'
import { words } from '../lib/words.ts'

/** Longer texts are shown as they are: to parse them would stop the page. */
const longest = 60_000

const parts: Components = {
  a: ({ href, children }) => {
    const url = safeLink(href)
    if (!url) return <span>{children}</span>
    return (
      <>
        <a
          href={url.href}
          target="_blank"
          rel="noopener noreferrer"
          title={`${url.href} · ${words.link}`}
          className="text-accent underline decoration-n6 underline-offset-2"
        >
          {children}
        </a>{' '}
        <span className="text-small text-n9">{url.host}</span>
      </>
    )
  },
  img: ({ alt, src }) => (
    <span className="text-small text-n9">
      [{words.imageNotLoaded}: {alt === undefined || alt === '' ? String(src).slice(0, 80) : alt}]
    </span>
  ),
}

const look =
  'grid min-w-0 gap-2.5 [&_:not(pre)>code]:rounded-sm [&_:not(pre)>code]:bg-n3 [&_:not(pre)>code]:px-1 [&_:not(pre)>code]:py-px [&_blockquote]:border-l-2 [&_blockquote]:border-n6 [&_blockquote]:pl-3 [&_blockquote]:text-n9 [&_code]:font-mono [&_code]:text-small [&_h1]:text-head [&_h1]:font-semibold [&_h2]:text-head [&_h2]:font-semibold [&_h3]:font-semibold [&_hr]:border-n5 [&_input]:mr-1.5 [&_li]:my-0.5 [&_ol]:list-decimal [&_ol]:pl-5 [&_pre]:overflow-auto [&_pre]:rounded-base [&_pre]:border [&_pre]:border-n4 [&_pre]:bg-n2 [&_pre]:px-3 [&_pre]:py-2 [&_table]:block [&_table]:overflow-x-auto [&_td]:border-b [&_td]:border-n3 [&_td]:py-1 [&_td]:pr-4 [&_th]:border-b [&_th]:py-1 [&_th]:pr-4 [&_th]:text-left [&_th]:text-small [&_th]:font-medium [&_th]:text-n8 [&_ul]:list-disc [&_ul]:pl-5'

/** Kept for a text: while an answer comes, all the others stand in the page as they are. */
export const AgentText = memo(function AgentText({ text }: { text: string }) {
  if (text.length > longest) return <PlainText text={text} />
  return (
    <div className={look} dir="auto">
      <Markdown remarkPlugins={[remarkGfm]} components={parts} skipHtml={false}>
        {text}
      </Markdown>
    </div>
  )
})

/** An answer that is being written: what is there already is not read again for each word. */
export const LiveText = ({ text }: { text: string }) => (
  <div className="grid gap-2.5">
    {blocksOf(text).map((block, at) => (
      <AgentText key={at} text={block} />
    ))}
  </div>
)

export const PlainText = ({ text }: { text: string }) => (
  <p className="whitespace-pre-wrap" dir="auto">
    {text.length > longest ? `${text.slice(0, longest)}…` : text}
  </p>
)
