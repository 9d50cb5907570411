/** A key to press, as it is written on it. */
export const Key = ({ of, isOnFill = false }: { of: string; isOnFill?: boolean }) => (
  <kbd
    aria-hidden="true"
    className={`-mr-1 max-phone:hidden rounded-sm border px-1 font-sans text-tiny ${isOnFill ? 'border-transparent text-current' : 'bg-n2 text-n8'}`}
  >
    {of}
  </kbd>
)
