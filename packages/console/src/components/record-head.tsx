import type { ReactNode } from 'react'

/** The head of what was chosen from a list: its name, what is to be known, what can be done. */
export const RecordHead = ({
  title,
  about,
  actions,
}: {
  title: string
  about?: ReactNode
  actions?: ReactNode
}) => (
  <header className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1.5">
    <div className="min-w-0 flex-1 basis-[220px]">
      <h2 dir="auto" className="font-mono break-words text-n11">
        {title}
      </h2>
      <p className="flex flex-wrap items-center gap-x-2 text-small text-n9">{about}</p>
    </div>
    <div className="flex flex-wrap gap-2">{actions}</div>
  </header>
)
