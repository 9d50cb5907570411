import { partsWithHidden } from '../lib/format/hidden-characters.ts'
import { words } from '../lib/words.ts'

/** A text whose hidden characters are named where they stand. */
export const HiddenShown = ({ text }: { text: string }) =>
  partsWithHidden(text).map((part, at) =>
    part.isHidden ? (
      <mark
        key={at}
        title={words.hidden(part.text)}
        className="rounded-sm bg-waiting-quiet px-0.5 text-waiting"
      >
        {part.text}
      </mark>
    ) : (
      part.text
    ),
  )
