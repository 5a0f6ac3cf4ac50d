"""`afterwit evaluate`: one file a benchmark."""

import typer

from afterwit.cli.evaluate import chime, judged, public_logs, reading, recsys, tide, upworthy, weekly

evaluate = typer.Typer(help="Run a benchmark and print its record.", no_args_is_help=True)
evaluate.command("upworthy")(upworthy.upworthy)
evaluate.command("chime")(chime.chime)
evaluate.command("bfcl")(judged.bfcl)
evaluate.command("browsecomp-zh")(judged.browsecomp_zh)
evaluate.command("vitabench")(judged.vitabench)
evaluate.command("injection")(reading.injection)
evaluate.command("longcontext")(reading.longcontext)
evaluate.command("perceive")(reading.perceive)
evaluate.command("recsys")(recsys.recsys)
evaluate.command("asos")(public_logs.asos)
evaluate.command("open-bandit")(public_logs.open_bandit)
evaluate.command("tide")(tide.tide)
evaluate.command("world", hidden=True)(tide.tide)
evaluate.command("weekly")(weekly.weekly)
evaluate.command("memorycd")(public_logs.memorycd)
