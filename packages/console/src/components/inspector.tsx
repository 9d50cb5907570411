/** The pane beside a conversation: one of several views of the session. Below 1,280 px it lies over the talk. */
import type { ReactNode } from 'react'
import { talkWords } from '../lib/session/talk-words.ts'
import { words } from '../lib/words.ts'
import { IconClose } from './icons.tsx'
import { PaneEdge, usePaneWidth } from './resizable.tsx'
import type { TabChoice } from './tabs.tsx'
import { Tabs } from './tabs.tsx'

type InspectorProps<Name extends string> = {
  label: string
  tabs: readonly TabChoice<Name>[]
  chosen: Name
  onChoose: (name: Name) => void
  onClose: () => void
  children: ReactNode
}

const inspectorWidth = { usual: 440, least: 320, most: 820 }

export function Inspector<Name extends string>(props: InspectorProps<Name>) {
  const width = usePaneWidth('inspector', inspectorWidth)
  return (
    <aside
      aria-label={props.label}
      style={{ width: width.px }}
      className="relative z-[3] flex max-w-full shrink-0 flex-col border-l bg-n1 max-wide:absolute max-wide:inset-y-0 max-wide:right-0 max-wide:shadow-float max-phone:w-full! max-phone:border-l-0"
    >
      <PaneEdge label={talkWords.inspectorWidth} pane={width} side="right" />
      <div className="flex shrink-0 items-start border-b pr-2 [&>[role=tablist]]:min-w-0 [&>[role=tablist]]:flex-1 [&_[role=tab]]:h-8 [&>[role=tablist]]:h-auto [&>[role=tablist]]:flex-wrap [&>[role=tablist]]:gap-x-3 [&>[role=tablist]]:gap-y-0 [&>[role=tablist]]:border-b-0">
        <Tabs
          label={props.label}
          tabs={props.tabs}
          chosen={props.chosen}
          onChoose={props.onChoose}
        />
        <button
          type="button"
          aria-label={words.session.closeInspector}
          onClick={props.onClose}
          className="mt-1 grid size-7 shrink-0 place-items-center rounded-base text-n9 hover:bg-n3"
        >
          <IconClose />
        </button>
      </div>
      <div className="relative min-h-0 flex-1 overflow-auto p-4" tabIndex={-1}>
        {props.children}
      </div>
    </aside>
  )
}

/** A share of a whole, with the two numbers beside it. */
export const Meter = ({
  label,
  share,
  children,
}: {
  label: string
  share: number
  children: ReactNode
}) => (
  <div className="grid gap-1">
    <div className="flex justify-between gap-2">
      <span className="text-n9">{label}</span>
      <span className="text-n11">{children}</span>
    </div>
    <div
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      className="h-1.5 overflow-hidden rounded-full bg-n4"
    >
      <div
        className={`h-full rounded-full ${share > 0.9 ? 'bg-failed' : 'bg-accent'}`}
        style={{ width: `${Math.min(100, share * 100).toFixed(1)}%` }}
      />
    </div>
  </div>
)

/** A small table of a pane: names and numbers. */
export const MiniTable = ({
  label,
  heads,
  rows,
}: {
  label: string
  heads: readonly string[]
  rows: readonly { key: string; cells: readonly ReactNode[] }[]
}) => (
  <table aria-label={label} className="w-full border-collapse">
    <thead>
      <tr>
        {heads.map((head, at) => (
          <th
            key={head}
            scope="col"
            className={`h-7 border-b text-small font-medium text-n8 ${at === 0 ? 'text-left' : 'pl-3 text-right whitespace-nowrap'}`}
          >
            {head}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(({ key, cells }) => (
        <tr key={key}>
          {cells.map((cell, at) => (
            <td
              key={heads[at]}
              className={`h-7 border-b border-n3 ${at === 0 ? 'w-full max-w-0 truncate text-n11' : 'pl-3 text-right whitespace-nowrap'}`}
            >
              {cell}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
)
