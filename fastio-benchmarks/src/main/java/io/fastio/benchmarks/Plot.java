package io.fastio.benchmarks;

import io.fastio.benchmarks.subject.Samples;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.geom.Rectangle2D;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.jfree.chart.JFreeChart;
import org.jfree.chart.axis.LogAxis;
import org.jfree.chart.axis.NumberAxis;
import org.jfree.chart.axis.NumberTickUnitSource;
import org.jfree.chart.axis.SymbolAxis;
import org.jfree.chart.axis.ValueAxis;
import org.jfree.chart.block.BlockBorder;
import org.jfree.chart.plot.PlotOrientation;
import org.jfree.chart.plot.XYPlot;
import org.jfree.chart.renderer.xy.StandardXYBarPainter;
import org.jfree.chart.renderer.xy.XYBarRenderer;
import org.jfree.chart.renderer.xy.XYErrorRenderer;
import org.jfree.chart.renderer.xy.XYLineAndShapeRenderer;
import org.jfree.chart.title.LegendTitle;
import org.jfree.data.xy.XYIntervalSeries;
import org.jfree.data.xy.XYIntervalSeriesCollection;
import org.jfree.data.xy.XYSeries;
import org.jfree.data.xy.XYSeriesCollection;
import org.jfree.svg.SVGGraphics2D;
import org.jfree.svg.ViewBox;

/** Draws plots as SVG elements, in colours that can be read on a light and on a dark page alike. */
final class Plot {
    private static final int WIDTH = 640;
    private static final int HEIGHT = 340;
    private static final int BAR_HEIGHT = 26;
    private static final int BAR_MARGIN = 60;
    private static final Color INK = new Color(0x80, 0x88, 0x90);
    private static final Color GRID = new Color(0x80, 0x88, 0x90, 0x50);
    private static final Color NOTHING = new Color(0, 0, 0, 0);
    private static final Color OWN = new Color(0xE0, 0x6C, 0x1F);
    /** Told apart by people who see colours differently, too. */
    private static final List<Color> OTHERS = List.of(
            new Color(0x4C, 0x8D, 0xC9),
            new Color(0x2F, 0xA0, 0x83),
            new Color(0xC7, 0x7B, 0xB0),
            new Color(0x9A, 0x8F, 0x2E),
            new Color(0x6A, 0x6F, 0xC4),
            new Color(0x3E, 0xA9, 0xB8),
            new Color(0xB8, 0x5C, 0x5C),
            new Color(0x7C, 0x9A, 0x3F),
            new Color(0x8A, 0x6D, 0x58),
            new Color(0x94, 0x7A, 0xCB));

    private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
    private static final double MAX_NINES = 4;
    /** Values within this factor of each other show little on a logarithmic axis. */
    private static final double NARROW = 8;

    private Plot() {}

    /** Percentiles of latencies, both axes logarithmic: 90 %, 99 %, 99.9 % lie at equal distances. */
    static String distribution(List<Context.Distribution> distributions) {
        XYSeriesCollection data = new XYSeriesCollection();
        for (Context.Distribution distribution : distributions) {
            XYSeries series = new XYSeries(distribution.who());
            Samples samples = distribution.samples();
            double nines = Math.min(MAX_NINES, Math.log10(samples.size()));
            for (double x = 0; x <= nines; x += 0.05) {
                double percent = 100 * (1 - Math.pow(10, -x));
                series.add(Math.pow(10, x), positive(samples.percentile(percent)));
            }
            data.addSeries(series);
        }
        LogAxis x = logAxis();
        x.setNumberFormatOverride(new NinesFormat());
        return lines(data, x, false);
    }

    /** A metric over a size, on logarithmic axes unless the values lie close together. */
    static String growth(SequencedMap<Double, List<Result>> sizes) {
        Map<String, XYSeries> byWho = new LinkedHashMap<>();
        sizes.forEach((size, results) -> results.forEach(
                r -> byWho.computeIfAbsent(r.who(), XYSeries::new).add(size.doubleValue(), positive(r.value()))));
        XYSeriesCollection data = new XYSeriesCollection();
        byWho.values().forEach(data::addSeries);
        return lines(data, logAxis(), true);
    }

    /** One bar per contender with its value, and whiskers from the smallest to the largest repetition. */
    static String bars(List<Result> results) {
        XYIntervalSeriesCollection data = new XYIntervalSeriesCollection();
        String[] names = new String[results.size()];
        for (int i = 0; i < names.length; i++) {
            Result r = results.get(i);
            names[i] = r.who() + "  " + Result.plain(r.value());
            XYIntervalSeries series = new XYIntervalSeries(r.who() + " " + i);
            series.add(i, i - 0.35, i + 0.35, r.value(), r.min(), r.max());
            data.addSeries(series);
        }
        XYErrorRenderer whiskers = new XYErrorRenderer();
        whiskers.setDrawXError(false);
        whiskers.setDefaultShapesVisible(false);
        whiskers.setErrorPaint(INK);
        whiskers.setErrorStroke(new BasicStroke(1.5f));
        XYBarRenderer bars = new XYBarRenderer();
        bars.setBarPainter(new StandardXYBarPainter());
        bars.setShadowVisible(false);
        Map<String, Color> colours = new HashMap<>();
        for (int i = 0; i < names.length; i++) {
            bars.setSeriesPaint(i, colour(results.get(i).who(), colours));
        }
        SymbolAxis who = new SymbolAxis(null, names);
        who.setInverted(true);
        who.setGridBandsVisible(false);
        NumberAxis value = new NumberAxis();
        XYPlot plot = new XYPlot(data, who, value, whiskers);
        plot.setDataset(1, data);
        plot.setRenderer(1, bars);
        plot.setOrientation(PlotOrientation.HORIZONTAL);
        return draw(plot, false, BAR_MARGIN + BAR_HEIGHT * names.length);
    }

    private static String lines(XYSeriesCollection data, ValueAxis x, boolean shapes) {
        XYLineAndShapeRenderer renderer = new XYLineAndShapeRenderer(true, shapes);
        Map<String, Color> colours = new HashMap<>();
        for (int i = 0; i < data.getSeriesCount(); i++) {
            String who = data.getSeriesKey(i).toString();
            renderer.setSeriesPaint(i, colour(who, colours));
            renderer.setSeriesStroke(i, new BasicStroke(who.equals("fastio") ? 3 : 1.7f));
        }
        boolean narrow = data.getRangeUpperBound(false) < NARROW * data.getRangeLowerBound(false);
        return draw(new XYPlot(data, x, narrow ? new NumberAxis() : logAxis(), renderer), true, HEIGHT);
    }

    private static LogAxis logAxis() {
        LogAxis axis = new LogAxis(null);
        axis.setStandardTickUnits(new NumberTickUnitSource(true));
        axis.setSmallestValue(1e-6);
        return axis;
    }

    /** A logarithmic axis has no zero. */
    private static double positive(double value) {
        return Math.max(value, 1e-3);
    }

    /** fastio and the limit look the same in every plot. */
    private static Color colour(String who, Map<String, Color> given) {
        return switch (who) {
            case "fastio" -> OWN;
            case "limit" -> INK;
            default -> given.computeIfAbsent(who, w -> OTHERS.get(given.size() % OTHERS.size()));
        };
    }

    private static String draw(XYPlot plot, boolean legend, int height) {
        plot.setBackgroundPaint(NOTHING);
        plot.setOutlineVisible(false);
        plot.setDomainGridlinePaint(GRID);
        plot.setRangeGridlinePaint(GRID);
        for (ValueAxis axis : List.of(plot.getDomainAxis(), plot.getRangeAxis())) {
            axis.setTickLabelPaint(INK);
            axis.setTickLabelFont(FONT);
            axis.setAxisLinePaint(GRID);
            axis.setTickMarkPaint(GRID);
        }
        JFreeChart chart = new JFreeChart(null, FONT, plot, legend);
        chart.setBackgroundPaint(NOTHING);
        LegendTitle names = chart.getLegend();
        if (names != null) {
            names.setBackgroundPaint(NOTHING);
            names.setItemPaint(INK);
            names.setItemFont(FONT);
            names.setFrame(BlockBorder.NONE);
        }
        SVGGraphics2D svg = new SVGGraphics2D(WIDTH, height);
        chart.draw(svg, new Rectangle2D.Double(0, 0, WIDTH, height));
        return svg.getSVGElement(null, true, new ViewBox(0, 0, WIDTH, height), null, null);
    }
}
