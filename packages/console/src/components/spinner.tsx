export const Spinner = () => (
  <span
    aria-hidden="true"
    className="size-[11px] shrink-0 animate-turn rounded-full border-[1.5px] border-current border-r-transparent"
  />
)
