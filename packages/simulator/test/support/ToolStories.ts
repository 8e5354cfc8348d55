/** What tools of bash scripts say, as GNU coreutils 9.1 and bash 5.2 say it: title, command, output, exit code if not 0. */
export const toolStories: ReadonlyArray<readonly [title: string, command: string, output: string, code?: number]> = [
  [
    "a range of more than 10,000 words",
    "for i in {1..12000}; do n=$i; done; echo $n; set -- {1..20001..2}; echo $#; set -- x{12000..1}; echo $# ${12000}; set -- {00001..10500}; echo ${10500}",
    "12000\n10001\n12000 x1\n10500\n"
  ]
]
