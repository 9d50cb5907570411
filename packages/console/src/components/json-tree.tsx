/** JSON as a tree: folded parts say how much is in them; long texts are cut and counted. */
import { useState } from 'react'
import { formatCount } from '../lib/format/numbers.ts'
import { words } from '../lib/words.ts'
import { HiddenShown } from './hidden-shown.tsx'
import { IconDown, IconRight } from './icons.tsx'

const longest = 400
const openDepth = 2
const fewEntries = 100

export const JsonTree = ({ value, name }: { value: unknown; name?: string }) => (
  <div className="min-w-0 font-mono text-small leading-[1.7] text-n10">
    <JsonNode value={value} name={name} depth={0} />
  </div>
)

function JsonNode({
  value,
  name,
  depth,
}: {
  value: unknown
  name: string | undefined
  depth: number
}) {
  if (typeof value === 'object' && value !== null)
    return <JsonParts value={value} name={name} depth={depth} />
  return (
    <div className="flex min-w-0 gap-1.5 pl-[21px]">
      {name !== undefined && <JsonName name={name} />}
      <JsonScalar value={value} />
    </div>
  )
}

const JsonName = ({ name }: { name: string }) => (
  <span className="max-w-60 shrink-0 truncate text-n9">{name}:</span>
)

function JsonScalar({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <span className="text-accent">{String(value)}</span>
  const isCut = !isWhole && value.length > longest
  return (
    <span className="min-w-0 whitespace-pre-wrap text-good">
      "<HiddenShown text={isCut ? value.slice(0, longest) : value} />
      {isCut ? '…' : '"'}
      {isCut && (
        <button
          type="button"
          onClick={() => setWhole(true)}
          className="ml-2 rounded-sm font-sans text-n9 hover:text-n11"
        >
          {formatCount(value.length)} {words.chars}
        </button>
      )}
    </span>
  )
}

function JsonParts({
  value,
  name,
  depth,
}: {
  value: object
  name: string | undefined
  depth: number
}) {
  const [isOpen, setOpen] = useState(depth < openDepth)
  const entries = Object.entries(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0)
    return (
      <div className="flex gap-1.5 pl-[21px]">
        {name !== undefined && <JsonName name={name} />}
        {open}
        {close}
      </div>
    )
  return (
    <div className="min-w-0">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex max-w-full items-center gap-1.5 rounded-sm hover:bg-n3"
      >
        {isOpen ? <IconDown className="text-n8" /> : <IconRight className="text-n8" />}
        {name !== undefined && <JsonName name={name} />}
        {open}
        {!isOpen && (
          <span className="text-n9">
            {formatCount(entries.length)} {close}
          </span>
        )}
      </button>
      {isOpen && (
        <>
          <div className="pl-4">
            {entries.slice(0, fewEntries).map(([key, each]) => (
              <JsonNode key={key} value={each} name={key} depth={depth + 1} />
            ))}
            {entries.length > fewEntries && (
              <div className="pl-[21px] text-n9">… {formatCount(entries.length - fewEntries)}</div>
            )}
          </div>
          <div className="pl-[21px]">{close}</div>
        </>
      )}
    </div>
  )
}
